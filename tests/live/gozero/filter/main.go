// go-zero's core/bloom on a key in Redis, for test_live.py: one command a line, "add KEY" or "exists KEY", one answer a line.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/zeromicro/go-zero/core/bloom"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stores/redis"
)

func main() {
	logx.Disable()
	bits, _ := strconv.ParseUint(os.Args[3], 10, 64)
	filter := bloom.New(redis.MustNewRedis(redis.RedisConf{Host: os.Args[1], Type: "node"}), os.Args[2], uint(bits))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		verb, key, _ := strings.Cut(lines.Text(), " ")
		if verb == "add" {
			fmt.Println(filter.Add([]byte(key)))
			continue
		}
		there, err := filter.Exists([]byte(key))
		fmt.Println(there, err)
	}
}
