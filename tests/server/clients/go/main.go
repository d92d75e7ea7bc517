// What test_resp_clients.py expects, by go-redis.  The argument is the port.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"
)

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func told(protocol int) []any {
	ctx := context.Background()
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: protocol})
	defer c.Close()
	all := []any{
		c.BFReserve(ctx, "users", 0.001, 1000).Val(),
		number(c.BFAdd(ctx, "users", "a").Val()),
		number(c.BFAdd(ctx, "users", "a").Val()),
	}
	many := []int{}
	for _, one := range c.BFMAdd(ctx, "users", "b", "c", "a").Val() {
		many = append(many, number(one))
	}
	all = append(all, many, number(c.BFExists(ctx, "users", "z").Val()), c.BFCard(ctx, "users").Val())
	pipe := c.Pipeline()
	for i := 0; i < 500; i++ {
		pipe.BFAdd(ctx, "pipe", i)
	}
	answers, _ := pipe.Exec(ctx)
	new := 0
	for _, one := range answers {
		new += number(one.(*redis.BoolCmd).Val())
	}
	all = append(all, number(new >= 490), c.BFInfo(ctx, "none").Err().Error())
	c.Del(ctx, "users", "pipe")
	return all
}

func main() {
	for _, protocol := range []int{2, 3} {
		line, _ := json.Marshal(told(protocol))
		fmt.Println(string(line))
	}
}
