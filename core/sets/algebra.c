/* algebra.c - two filters as sets: inclusion, estimates of union and intersection without building
 * either; a counting filter as a plain one.  Knows whole filters; state.c has what changes one of
 * them, words.c and counters.c the loops. */
#include "parts/parts.h"
#include "sets/sets.h"
#include <string.h>

/* Both sides' words, which may be memory copies of what is far away: to be closed, also after an
 * error. */
typedef struct {
    uint64_t *a, *b;
    bf_filter *copies[2];
} sides;

static int take_sides(sides *s, bf_filter *a, bf_filter *b, bf_error *err)
{
    *s = (sides){ 0 };
    int rc = bf_alike(a, b, err);
    if (rc == 0) rc = bf_words_or_copy(a, "be compared", &s->a, &s->copies[0], err);
    if (rc == 0) rc = bf_words_or_copy(b, "be compared", &s->b, &s->copies[1], err);
    return rc;
}

static void close_sides(sides *s)
{
    bf_close(s->copies[0]);
    bf_close(s->copies[1]);
}

int bf_do_subset(bf_filter *a, bf_filter *b, bf_error *err)
{
    sides s;
    int rc = take_sides(&s, a, b, err);
    if (rc == 0)
        rc = (a->part.g.counting ? bf_counters_within : bf_words_within)(
            s.a, s.b, a->part.store.nwords);
    close_sides(&s);
    return rc;
}

int bf_do_union_state(bf_filter *a, bf_filter *b, bf_state *out, bf_error *err)
{
    sides s;
    int rc = take_sides(&s, a, b, err);
    if (rc == 0)
        bf_estimate(a->scheme, &a->part.g,
            (a->part.g.counting ? bf_counters_used_of_both : bf_words_count_of_both)(
                s.a, s.b, a->part.store.nwords),
            out);
    close_sides(&s);
    return rc;
}

/* |A| + |B| - |A or B|: the bits that both have would count those that different keys set in each.
 */
int bf_do_intersection_count(bf_filter *a, bf_filter *b, double *count, bf_error *err)
{
    bf_state x, y, both;
    int rc = bf_do_union_state(a, b, &both, err);
    if (rc < 0 || (rc = bf_do_get_state(a, &x, err)) < 0 || (rc = bf_do_get_state(b, &y, err)) < 0)
        return rc;
    double least = x.count < y.count ? x.count : y.count;
    *count = x.count + y.count - both.count;
    if (*count < 0) *count = 0;
    if (*count > least) *count = least;
    return 0;
}

bf_filter *bf_do_to_plain(bf_filter *f, bf_error *err)
{
    uint64_t *w;
    bf_filter *copy = NULL, *plain = NULL;
    if (!f->part.g.counting) return bf_do_copy(f, err);
    if (bf_words_or_copy(f, "be converted", &w, &copy, err) < 0) return NULL;
    bf_desc d = bf_describe(f);
    bf_spec spec = { .threads = false };
    if (f->secret_check && !f->functions) {
        spec.secret = f->secret;
        spec.secret_len = BF_SECRET_BYTES;
    }
    d.g.counting = false;
    if ((plain = bf_new_like(&d, &spec, err)))
        bf_counters_to_bits(plain->part.store.words, w, f->part.store.nwords);
    bf_close(copy);
    return plain;
}
