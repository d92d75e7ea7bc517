/* cells.c - what is asked of cells, bits or counters of 4 bits, at positions under one name:
 *
 *   look   BITFIELD_RO K GET u1 p1 ...       a key; where its cells lie in one line of 512, or bits
 *          GETRANGE K line                   in two, a line: half the cost.  A byte a cell where
 *                                            Redis has no BITFIELD_RO
 *          GETRANGE K 0 mark                 all keys, where the whole string is little more than
 *                                            what is sent and answered otherwise
 *   add    BITFIELD K SET u1 p1 1 ...        a key: Redis sets them at once and tells what was set
 *          BITFIELD K OVERFLOW SAT INCRBY u4 #p1 1 ...                  before; what came of it
 *   mark   GET u32 in the last BITFIELD, or one more GETRANGE: the last thing read of a name
 *
 * Knows commands and replies; when they are sent, and again, is trip.c's. */
#include "bits/bits.h"
#include "redis/mark.h"
#include "redis/meta.h"
#include "redis/scripts.h"
#include "redis/trip.h"
#include <string.h>

/* Of a look in a batch: bytes of a command and its reply that are the same for all, and those of a
 * position in BITFIELD_RO; how many more the whole string may have: Redis takes a byte of a long
 * string in less than a thousandth of the time of a short command, a network of 1 Gbit/s in 8 ns.
 */
enum { LINE = 512, A_RANGE = 72, A_GET = 35, TIMES = 2, FEW = 16 };

static bool counts(const bf_redis_group *g) { return g->of->desc.g.counting; }
static unsigned cell_bits(const bf_redis_group *g) { return counts(g) ? BF_CELL_BITS : 1; }

/* Of counters a position that is named twice counts once.  n: of the positions that come back. */
static const uint64_t *raised(
    const bf_redis_group *g, const uint64_t *pos, unsigned k, uint64_t own[BF_K_MAX], unsigned *n)
{
    *n = k;
    if (g->op != BF_OP_ADD || !counts(g)) return pos;
    memcpy(own, pos, k * sizeof *own);
    *n = bf_counters_distinct(own, k);
    return own;
}

/* ---- commands ---- */
/* A single look of a client is one command: several cost phpredis a pipeline. */
static bool by_lines(const bf_redis_group *g)
{
    return g->op != BF_OP_ADD && !(g->of->link->client && g->nkeys == 1);
}

/* The lines in which the cells of a key lie, where they are few; else 0. */
static unsigned lines_of(const bf_redis_group *g, const uint64_t *pos, unsigned k, uint64_t line[2])
{
    const unsigned most = counts(g) ? 1 : 2;
    unsigned n = 0;
    if (!by_lines(g)) return 0;
    for (unsigned i = 0; i < k; i++) {
        uint64_t at = pos[i] / LINE;
        if ((n > 0 && at == line[0]) || (n > 1 && at == line[1])) continue;
        if (n == most) return 0;
        line[n++] = at;
    }
    return n;
}

static uint64_t string_bytes(const bf_redis *r)
{
    return r->foreign ? (r->bits + 7) / 8 : r->mark_at + BF_REDIS_MARK;
}

/* Is the whole string read, its mark included, and all keys looked at here? */
static bool as_whole(const bf_redis_group *g, unsigned k)
{
    uint64_t line[2];
    if (g->op == BF_OP_ADD || g->nkeys < FEW || string_bytes(g->of) > BF_REDIS_STEP) return false;
    const unsigned lines = lines_of(g, g->pos, k, line);
    const size_t each =
        lines ? lines * (A_RANGE + LINE / 8 * (size_t)cell_bits(g)) : (size_t)k * A_GET;
    return string_bytes(g->of) <= TIMES * each * g->nkeys;
}

static char *copy(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}
#define COPY(at, text) copy(at, text, sizeof text - 1)

static char *number_arg(char *at, const char *sign, uint64_t v)
{
    char text[20];
    const size_t len = (size_t)(bf_redis_digits(text, v) - text), more = strlen(sign);
    *at++ = '$';
    at = bf_redis_digits(at, len + more);
    at = COPY(at, "\r\n");
    at = copy(at, sign, more);
    at = copy(at, text, len);
    return COPY(at, "\r\n");
}

/* One position of an add; by: of counters that are raised by more than 1. */
static char *add_arg(char *at, bool counting, uint64_t pos, unsigned by)
{
    if (!counting)
        return COPY(number_arg(COPY(at, "$3\r\nSET\r\n$2\r\nu1\r\n"), "", pos), "$1\r\n1\r\n");
    return number_arg(number_arg(COPY(at, "$6\r\nINCRBY\r\n$2\r\nu4\r\n"), "#", pos), "", by);
}

static char *get_arg(char *at, bool counting, uint64_t pos)
{
    return counting ? number_arg(COPY(at, "$3\r\nGET\r\n$2\r\nu4\r\n"), "#", pos)
                    : number_arg(COPY(at, "$3\r\nGET\r\n$2\r\nu1\r\n"), "", pos);
}

static void put_bitfield(const bf_redis_group *g, const uint64_t *given, unsigned k, bool with_mark)
{
    bf_link *l = g->of->link;
    uint64_t own[BF_K_MAX];
    const bool add = g->op == BF_OP_ADD, counting = counts(g);
    const uint64_t *pos = raised(g, given, k, own, &k);
    bf_link_count(l, 2 + 2 * (add && counting) + (size_t)k * (add ? 4 : 3) + (with_mark ? 3 : 0));
    bf_link_allow(l, (size_t)k + 1, 0);
    bf_link_word(l, add ? "BITFIELD" : "BITFIELD_RO");
    bf_link_word(l, l->key);
    char *at = bf_link_room(l, ((size_t)k + 1) * 64);
    if (!at) return;
    if (add && counting) at = COPY(at, "$8\r\nOVERFLOW\r\n$3\r\nSAT\r\n");
    for (unsigned i = 0; i < k; i++)
        at = add ? add_arg(at, counting, pos[i], g->by ? g->by[i] : 1)
                 : get_arg(at, counting, pos[i]);
    if (with_mark) at = number_arg(COPY(at, "$3\r\nGET\r\n$3\r\nu32\r\n"), "", g->of->mark_at * 8);
    l->out_len = (size_t)(at - l->out);
}

/* Is the mark in the last key's BITFIELD, or a command of its own? */
static bool mark_inside(const bf_redis_group *g, unsigned k)
{
    uint64_t line[2];
    if (g->of->foreign || g->nkeys == 0 || bf_redis_mark_apart(g->of)) return false;
    return g->op == BF_OP_ADD || as_whole(g, k) ||
           (!g->of->link->no_bitfield_ro && !lines_of(g, g->pos + (g->nkeys - 1) * k, k, line));
}

static void put_keys(const bf_redis_group *g, unsigned k, bool inside)
{
    bf_redis *r = g->of;
    const uint64_t *pos = g->pos;
    const unsigned bits = cell_bits(g);
    const bool no_ro = r->link->no_bitfield_ro;
    uint64_t line[2];
    for (size_t i = 0; i < g->nkeys; i++, pos += k) {
        const unsigned lines = lines_of(g, pos, k, line);
        for (unsigned j = 0; j < lines; j++)
            bf_redis_put_range(r, line[j] * (LINE / 8) * bits, LINE / 8 * bits);
        if (lines == 0 && g->op != BF_OP_ADD && no_ro)
            for (unsigned j = 0; j < k; j++) bf_redis_put_range(r, pos[j] * bits / 8, 1);
        else if (lines == 0)
            put_bitfield(g, pos, k, inside && i + 1 == g->nkeys);
        bf_link_push(r->link);
    }
}

static void put(const bf_redis_group *g, unsigned k, const char *about)
{
    bf_redis *r = g->of;
    const bool inside = mark_inside(g, k);
    bf_link_about(r->link, about);
    if (as_whole(g, k))
        bf_redis_put_range(r, 0, string_bytes(r));
    else
        put_keys(g, k, inside);
    if (!inside && bf_redis_marked(r)) bf_redis_put_mark(r);
}

/* ---- replies ---- */
static void lower(unsigned *least, unsigned v)
{
    if (v < *least) *least = v;
}

/* The reply to GETRANGE, of so many bytes or less; NULL: rc says what it is. */
static const char *range(
    bf_redis_group *g, uint64_t most, size_t *len, bf_redis_answers *a, int *rc, bf_error *err)
{
    *rc = 0;
    if (!bf_redis_next(g->of, a, err)) return NULL;
    const char *bytes = bf_reply_only_text(&g->of->link->reply, len);
    if (bytes && *len <= most) return bytes;
    *rc = bf_redis_nonsense(g->of, err);
    return NULL;
}

/* What is past the end of the string is 0. */
static unsigned cell_in(const char *bytes, size_t len, uint64_t at, unsigned bits)
{
    const uint64_t bit = at * bits;
    return bit / 8 >= len ? 0
                          : (uint8_t)bytes[bit / 8] >> (8 - bits - bit % 8) & ((1U << bits) - 1);
}

/* The bytes of so many cells from the first on, and which of a key's positions are among them. */
static int take_range(bf_redis_group *g, const uint64_t *pos, unsigned k, uint64_t first,
    unsigned cells, bf_redis_answers *a, unsigned *least, bf_error *err)
{
    const unsigned bits = cell_bits(g);
    size_t len;
    int rc;
    const char *bytes = range(g, cells * bits / 8, &len, a, &rc, err);
    for (unsigned i = 0; bytes && i < k; i++) {
        const uint64_t at = pos[i] - first; /* wraps where it comes before */
        if (at < cells) lower(least, cell_in(bytes, len, at, bits));
    }
    return rc;
}

static uint8_t answer(const bf_redis_group *g, unsigned least, unsigned before)
{
    return g->op == BF_OP_COUNT ? (uint8_t)least : least > before;
}

static int take_whole(bf_redis_group *g, unsigned k, bf_redis_answers *a, bf_error *err)
{
    const unsigned bits = cell_bits(g);
    const uint64_t *pos = g->pos, at = g->of->mark_at;
    size_t len;
    int rc;
    const char *bytes = range(g, string_bytes(g->of), &len, a, &rc, err);
    for (size_t i = 0; bytes && i < g->nkeys; i++, pos += k) {
        unsigned least = BF_CELL_MAX;
        for (unsigned j = 0; j < k && least; j++) lower(&least, cell_in(bytes, len, pos[j], bits));
        g->present[i] = answer(g, least, 0);
    }
    if (bytes && !g->of->foreign) g->mark = bf_redis_mark_in(bytes + at, len > at ? len - at : 0);
    return rc;
}

static int take_bitfield(bf_redis_group *g, const uint64_t *pos, unsigned k, uint8_t *old,
    bool with_mark, bf_redis_answers *a, unsigned *least, bf_error *err)
{
    uint64_t own[BF_K_MAX];
    const long long most = (1LL << cell_bits(g)) - 1;
    if (!bf_redis_next(g->of, a, err)) return 0;
    raised(g, pos, k, own, &k);
    const bf_redis_leaf *v = g->of->link->reply.leaves;
    if (g->of->link->reply.n != k + (size_t)with_mark) return bf_redis_nonsense(g->of, err);
    for (unsigned i = 0; i < k + with_mark; i++)
        if (v[i].type != BF_LEAF_INTEGER) return bf_redis_nonsense(g->of, err);
    for (unsigned i = 0; i < k; i++) {
        if (v[i].value < 0 || v[i].value > most) return bf_redis_nonsense(g->of, err);
        lower(least, (unsigned)v[i].value);
        if (old) old[i] = v[i].value == 1;
    }
    if (with_mark) g->mark = (uint32_t)v[k].value;
    return 0;
}

static int take_key(bf_redis_group *g, const uint64_t *pos, unsigned k, uint8_t *old,
    bool with_mark, bf_redis_answers *a, unsigned *least, bf_error *err)
{
    const unsigned a_byte = 8 / cell_bits(g);
    uint64_t line[2];
    const unsigned lines = lines_of(g, pos, k, line);
    int rc = 0;
    for (unsigned j = 0; rc == 0 && j < lines; j++)
        rc = take_range(g, pos, k, line[j] * LINE, LINE, a, least, err);
    if (lines > 0) return rc;
    if (g->op == BF_OP_ADD || !g->of->link->no_bitfield_ro)
        return take_bitfield(g, pos, k, old, with_mark, a, least, err);
    for (unsigned j = 0; rc == 0 && j < k; j++)
        rc = take_range(g, pos + j, 1, pos[j] / a_byte * a_byte, a_byte, a, least, err);
    return rc;
}

static int take_keys(bf_redis_group *g, unsigned k, bool inside, bf_redis_answers *a, bf_error *err)
{
    const uint64_t *pos = g->pos;
    const unsigned before = counts(g) && g->op == BF_OP_ADD; /* INCRBY tells what came of it */
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < g->nkeys; i++, pos += k) {
        unsigned least = BF_CELL_MAX;
        rc = take_key(g, pos, k, g->op == BF_OP_ADD && g->old ? g->old + i * k : NULL,
            inside && i + 1 == g->nkeys, a, &least, err);
        g->present[i] = answer(g, least, before);
    }
    return rc;
}

static int take(bf_redis_group *g, unsigned k, bf_redis_answers *a, bf_error *err)
{
    const bool inside = mark_inside(g, k);
    int rc = as_whole(g, k) ? take_whole(g, k, a, err) : take_keys(g, k, inside, a, err);
    if (rc == 0 && !inside && bf_redis_marked(g->of)) g->mark = bf_redis_take_mark(g->of, a, err);
    return rc;
}

/* ---- taking back ---- */
/* Best effort: the error stands.  Of bits those that were 0, of counters all, and by how much. */
static void undo(const bf_redis_group *g, unsigned k)
{
    bf_link *l = g->of->link;
    uint64_t own[BF_K_MAX];
    bf_link_begin(l, BF_CHANGES);
    bf_redis_script(g->of, bf_script_take_back, NULL);
    bf_link_word(l, counts(g) ? "1" : "0");
    for (size_t key = 0; key < g->nkeys; key++) {
        const uint8_t *old = g->old ? g->old + key * k : NULL;
        unsigned n;
        const uint64_t *pos = raised(g, g->pos + key * k, k, own, &n);
        for (unsigned i = 0; i < n; i++) {
            if (old && old[i]) continue;
            bf_link_number(l, pos[i]);
            if (counts(g)) bf_link_number(l, g->by ? g->by[i] : 1);
        }
    }
    bf_link_finish(l, NULL);
}

const bf_redis_question bf_redis_looks = { .put = put, .take = take };
const bf_redis_question bf_redis_adds = { .done = "added", .put = put, .take = take, .undo = undo };
