/* fuzz_foreign.c - bytes of other systems (Guava's writeTo, RedisBloom's SCANDUMP, bare bits, a
 * byte a cell) with any parameters beside them. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char *const formats[] = { "guava", "bits", "bits-lsb", "cells", "", "guavas",
        "redisbloom" };
    bf_error e = { 0 };
    input in = { data, len };
    const char *format = formats[take(&in, 1) % 7];
    uint64_t flags = take(&in, 1);
    bf_spec spec = { 0 };
    if (flags & 1) spec.m = take(&in, 3) & 0xFFFF; /* not more than the test's time allows */
    if (flags & 2) spec.n = take(&in, 2);
    if (flags & 4) spec.k = (unsigned)take(&in, 1);
    if (flags & 8) spec.p = (double)take(&in, 1) / 256;
    const char *known = flags & 16 ? bf_scheme_name(take(&in, 1) % 24) : NULL;
    char *name = flags & 32 ? take_text(&in, 70) : NULL;
    spec.scheme = known ? known : name;
    bf_filter *f = bf_from_bytes_as(in.at, in.left, format, flags & 64 ? NULL : &spec, &e);
    if (!f)
        sound_error(&e);
    else {
        int64_t size = bf_bytes_as(f, format, &e);
        if (size >= 0 && size < 1 << 24) {
            uint8_t *out = malloc((size_t)size + 1);
            MUST(bf_to_bytes_as(f, format, out, (uint64_t)size, &e) == 0);
            /* of RedisBloom all is the same but what it does not read: growth and bits per key */
            if (!strcmp(format, "redisbloom")) MUST((size_t)size == in.left);
            if (!strcmp(format, "guava"))
                MUST((size_t)size == in.left && !memcmp(out, in.at, in.left));
            free(out);
        }
        bf_info info;
        bf_get_info(f, &info);
        if (info.m < 1 << 24) {
            sound_bytes(f);
            sound_filter(f, in.at, in.left);
        }
    }
    bf_close(f);
    free(name);
    return 0;
}
