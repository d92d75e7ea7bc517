/* fuzz_spec.c - any bf_spec, of fixed, counting, growing and forgetting filters: planned, opened in
 * memory where it is small, filled with any keys. */
#include "fuzz.h"

static double real(input *in)
{
    uint64_t bits = take(in, 8);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static bool small(const bf_spec *s)
{
    return s->m <= 1 << 16;
} /* time goes into calls, not into zeroes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    bf_error e = { 0 };
    input in = { data, len };
    uint64_t flags = take(&in, 2);
    bf_spec spec = { 0 };
    if (flags & 1) spec.m = take(&in, flags & 0x100 ? 8 : 3);
    if (flags & 2) spec.n = take(&in, flags & 0x100 ? 8 : 2);
    if (flags & 4) spec.k = (unsigned)take(&in, flags & 0x200 ? 4 : 1);
    if (flags & 8) spec.p = flags & 0x400 ? real(&in) : (double)take(&in, 2) / 65536;
    const char *known = flags & 16 ? bf_scheme_name(take(&in, 1) % 24) : NULL;
    char *name = flags & 32 ? take_text(&in, 70) : NULL,
         *secret = flags & 64 ? take_text(&in, 20) : NULL;
    spec.scheme = known ? known : name;
    spec.secret = secret;
    spec.secret_len = secret ? strlen(secret) : 0;
    spec.threads = (flags & 128) != 0;
    spec.counting = (flags & 0x800) != 0;
    if (flags & 0x1000) spec.grow = flags & 0x400 ? real(&in) : (double)take(&in, 1) / 64;
    if (flags & 0x2000) spec.window = flags & 0x400 ? real(&in) : (double)take(&in, 1);
    if (flags & 0x4000) spec.parts = (unsigned)take(&in, 1);
    if (spec.window != 0 || !(flags & 0xff)) spec.clock = still;
    bf_spec plan = spec;
    if (bf_plan(&plan, &e) < 0) {
        sound_error(&e);
        bf_filter *f = bf_open(&spec, &e);
        MUST(!f);
    } else {
        MUST(plan.m >= 1 && plan.m <= BF_M_MAX && plan.k >= 1 && plan.n >= 1 && plan.p >= 0 &&
             plan.p <= 1 && plan.scheme);
        bf_filter *f = small(&plan) ? bf_open(&spec, &e) : NULL;
        if (f) {
            bf_info info;
            bf_get_info(f, &info);
            MUST(info.m == plan.m && info.n == plan.n && info.k == plan.k &&
                 !strcmp(info.scheme, plan.scheme));
            if (spec.counting)
                sound_counts(f, in.at, in.left);
            else if (spec.grow != 0 || spec.window != 0)
                sound_keys(f, in.at, in.left);
            else
                sound_filter(f, in.at, in.left);
            sound_bytes(f);
            bf_close(f);
        }
    }
    free(name);
    free(secret);
    return 0;
}
