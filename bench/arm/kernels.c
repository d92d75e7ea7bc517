/* kernels.c - adds 640 keys to a filter in memory and tests 1280, half of them absent, in batches:
 * the run whose instructions bench/arm/instructions counts under qemu. */
#include <bloomfilter.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { KEYS = 640 };
    static uint64_t number[2 * KEYS];
    static bf_key key[2 * KEYS];
    static uint8_t each[2 * KEYS];
    bf_error e = { 0 };
    if (argc != 3) return 2;
    bf_filter *f =
        bf_open(&(bf_spec){ .m = 1 << 17, .k = (unsigned)atoi(argv[2]), .scheme = argv[1] }, &e);
    for (size_t i = 0; i < 2 * KEYS; i++) {
        number[i] = i * UINT64_C(0x9E3779B97F4A7C15);
        key[i] = (bf_key){ &number[i], sizeof *number };
    }
    if (!f || bf_add_many(f, key, KEYS, each, &e) < 0 ||
        bf_test_many(f, key, 2 * KEYS, each, &e) < KEYS) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    bf_close(f);
    return 0;
}
