/* entrances.c - the public functions that may run the host's code: each is a call of its filters
 * while it lasts (parts/inside.c), and then the function of the same name with do_ in it.  Those of
 * keys are in filter.c. */
#include "sets/sets.h"
#include "spec.h"

#define INSIDE_ONE(type, fail, f, call)                                                            \
    bf_calls in;                                                                                   \
    int rc = bf_begin(&in, f, NULL, err);                                                          \
    if (rc < 0) return fail;                                                                       \
    type answer = call;                                                                            \
    bf_end(&in);                                                                                   \
    return answer
#define INSIDE_BOTH(a, b, call)                                                                    \
    bf_calls in;                                                                                   \
    int rc = bf_begin(&in, a, b, err);                                                             \
    if (rc < 0) return rc;                                                                         \
    rc = call;                                                                                     \
    bf_end(&in);                                                                                   \
    return rc

bf_filter *bf_copy(bf_filter *f, bf_error *err)
{
    INSIDE_ONE(bf_filter *, NULL, f, bf_do_copy(f, err));
}
bf_filter *bf_to_plain(bf_filter *f, bf_error *err)
{
    INSIDE_ONE(bf_filter *, NULL, f, bf_do_to_plain(f, err));
}
int bf_clear(bf_filter *f, bf_error *err) { INSIDE_ONE(int, rc, f, bf_do_clear(f, err)); }
int bf_sync(bf_filter *f, bf_error *err) { INSIDE_ONE(int, rc, f, bf_do_sync(f, err)); }
int bf_expire(bf_filter *f, double seconds, bf_error *err)
{
    INSIDE_ONE(int, rc, f, bf_do_expire(f, seconds, err));
}
int bf_delete(bf_filter *f, bf_error *err) { INSIDE_ONE(int, rc, f, bf_do_delete(f, err)); }
int bf_get_state(bf_filter *f, bf_state *state, bf_error *err)
{
    INSIDE_ONE(int, rc, f, bf_do_get_state(f, state, err));
}
int bf_get_part(bf_filter *f, unsigned i, bf_part_info *info, bf_error *err)
{
    INSIDE_ONE(int, rc, f, bf_do_get_part(f, i, info, err));
}
int bf_saturated(bf_filter *f, uint64_t *wait, bf_error *err)
{
    INSIDE_ONE(int, rc, f, bf_do_saturated(f, wait, err));
}
int bf_glance(bf_filter *f, bf_error *err) { INSIDE_ONE(int, rc, f, bf_do_glance(f, err)); }
int bf_read_bits(bf_filter *f, uint64_t offset, void *buf, size_t len, bf_error *err)
{
    INSIDE_ONE(int, rc, f, bf_do_read_bits(f, offset, buf, len, err));
}
int bf_to_bytes(bf_filter *f, void *buf, uint64_t cap, bf_error *err)
{
    INSIDE_ONE(int, rc, f, bf_do_to_bytes(f, buf, cap, err));
}
int64_t bf_bytes_as(bf_filter *f, const char *format, bf_error *err)
{
    INSIDE_ONE(int64_t, rc, f, bf_do_bytes_as(f, format, err));
}
int bf_to_bytes_as(bf_filter *f, const char *format, void *buf, uint64_t cap, bf_error *err)
{
    INSIDE_ONE(int, rc, f, bf_do_to_bytes_as(f, format, buf, cap, err));
}
int bf_save(bf_filter *f, const char *path, bf_error *err)
{
    INSIDE_ONE(int, rc, f, bf_do_save(f, path, err));
}
int bf_is_current(const bf_filter *f, const bf_spec *spec, bf_error *err)
{
    INSIDE_ONE(int, rc, (bf_filter *)f, bf_do_is_current(f, spec, err));
}
int64_t bf_hashcode(
    const bf_filter *f, const void *key, size_t len, uint64_t *pos, size_t cap, bf_error *err)
{
    INSIDE_ONE(int64_t, rc, (bf_filter *)f, bf_do_hashcode(f, key, len, pos, cap, err));
}
bf_filter *bf_rebuild_begin(bf_filter *f, bf_error *err)
{
    INSIDE_ONE(bf_filter *, NULL, f, bf_do_rebuild_begin(f, err));
}
int bf_rebuild_cancel(bf_filter *f, bf_filter *fresh, bf_error *err)
{
    INSIDE_BOTH(f, fresh, bf_do_rebuild_cancel(f, fresh, err));
}
int bf_rebuild_end(bf_filter *f, bf_filter *fresh, bf_error *err)
{
    INSIDE_BOTH(f, fresh, bf_do_rebuild_end(f, fresh, err));
}
int bf_unite(bf_filter *into, bf_filter *from, bf_error *err)
{
    INSIDE_BOTH(into, from, bf_do_unite(into, from, err));
}
int bf_intersect(bf_filter *into, bf_filter *from, bf_error *err)
{
    INSIDE_BOTH(into, from, bf_do_intersect(into, from, err));
}
int bf_equal(bf_filter *a, bf_filter *b, bf_error *err)
{
    INSIDE_BOTH(a, b, bf_do_equal(a, b, err));
}
int bf_subset(bf_filter *a, bf_filter *b, bf_error *err)
{
    INSIDE_BOTH(a, b, bf_do_subset(a, b, err));
}
int bf_union_state(bf_filter *a, bf_filter *b, bf_state *state, bf_error *err)
{
    INSIDE_BOTH(a, b, bf_do_union_state(a, b, state, err));
}
int bf_intersection_count(bf_filter *a, bf_filter *b, double *count, bf_error *err)
{
    INSIDE_BOTH(a, b, bf_do_intersection_count(a, b, count, err));
}
