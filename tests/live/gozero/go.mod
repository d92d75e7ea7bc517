module live

go 1.21

require github.com/zeromicro/go-zero v1.10.3
