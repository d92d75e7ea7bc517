// header.cpp - the public header is valid C++, and the library links with it.
#include <bloomfilter.h>
#include <cstdio>

int main()
{
    bf_error e;
    bf_spec spec = bf_spec();
    spec.n = 1000;
    spec.p = 0.01;
    bf_filter *f = bf_open(&spec, &e);
    if (!f || bf_add(f, "key", 3, &e) != BF_ADDED || bf_test(f, "key", 3, &e) != 1) return 1;
    bf_close(f);
    return std::puts(bf_version()) < 0;
}
