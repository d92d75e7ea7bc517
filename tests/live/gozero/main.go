// The real hash of go-zero for test_live.py: the fourteen positions of each key (one a line), as core/bloom takes them.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"github.com/zeromicro/go-zero/core/hash"
)

func main() {
	bits, _ := strconv.ParseUint(os.Args[1], 10, 64)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		key := append([]byte(nil), lines.Bytes()...)
		for i := 0; i < 14; i++ {
			fmt.Print(hash.Hash(append(key, byte(i)))%bits, " ")
		}
		fmt.Println()
	}
}
