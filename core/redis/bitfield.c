/* bitfield.c - what is asked of cells, bits or counters of 4 bits, at positions under one name:
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
 * Knows commands and replies; when they are sent, and again, is batch.c's. */
#include "bits/bits.h"
#include "redis/generation.h"
#include "redis/meta.h"
#include "redis/scripts.h"
#include "redis/batch.h"
#include <string.h>

/* Of a look in a batch: bytes of a command and its reply that are the same for all, and those of a
 * position in BITFIELD_RO; how many more the whole string may have: Redis takes a byte of a long
 * string in less than a thousandth of the time of a short command, a network of 1 Gbit/s in 8 ns.
 */
enum { LINE = 512, A_RANGE = 72, A_GET = 35, TIMES = 2, FEW = 16 };

static bool counts(const bf_redis_request *g) { return g->of->desc.g.counting; }
static unsigned cell_bits(const bf_redis_request *g) { return counts(g) ? BF_CELL_BITS : 1; }

/* Of counters a position that is named twice counts once.  n: of the positions that come back. */
static const uint64_t *raised(
    const bf_redis_request *g, const uint64_t *pos, uint64_t own[BF_K_MAX], unsigned *n)
{
    *n = g->k;
    if (g->op != BF_OP_ADD || !counts(g)) return pos;
    memcpy(own, pos, g->k * sizeof *own);
    *n = bf_counters_distinct(own, g->k);
    return own;
}

/* ---- how a key is asked: decided once, and kept in present[] until the reply is read ---- */
enum { BY_BITFIELD, BY_LINE, BY_TWO_LINES, BY_BYTES };

/* The second line of a key whose cells lie in two. */
static uint64_t other_line(const uint64_t *pos, unsigned k)
{
    for (unsigned i = 1; i < k; i++)
        if (pos[i] / LINE != pos[0] / LINE) return pos[i] / LINE;
    return pos[0] / LINE;
}

/* A single look of a client is one command: several cost phpredis a pipeline. */
static uint8_t plan_key(const bf_redis_request *g, const uint64_t *pos)
{
    const bf_conn *l = g->of->conn;
    if (g->op == BF_OP_ADD) return BY_BITFIELD;
    if (l->socket || g->nkeys > 1) {
        const uint64_t first = pos[0] / LINE, second = other_line(pos, g->k);
        bool few = second == first || !counts(g);
        for (unsigned i = 0; few && i < g->k; i++)
            few = pos[i] / LINE == first || pos[i] / LINE == second;
        if (few) return second == first ? BY_LINE : BY_TWO_LINES;
    }
    return l->no_bitfield_ro ? BY_BYTES : BY_BITFIELD;
}

static uint64_t string_bytes(const bf_redis *r)
{
    return r->foreign ? (r->bits + 7) / 8 : r->mark_at + BF_REDIS_MARK;
}

/* The keys, whether the complete string is read and all keys are looked at here, and whether the
 * mark comes with it or is a command of its own. */
static void make_plan(bf_redis_request *g)
{
    const bool ours = !g->of->foreign && g->nkeys > 0 && !bf_redis_mark_apart(g->of);
    for (size_t i = 0; i < g->nkeys; i++) g->present[i] = plan_key(g, g->pos + i * g->k);
    g->as_string = false;
    if (g->op != BF_OP_ADD && g->nkeys >= FEW && string_bytes(g->of) <= BF_REDIS_STEP) {
        const uint8_t how = g->present[0];
        const size_t lines = how == BY_LINE ? 1 : how == BY_TWO_LINES ? 2 : 0;
        const size_t each =
            lines ? lines * (A_RANGE + LINE / 8 * (size_t)cell_bits(g)) : (size_t)g->k * A_GET;
        g->as_string = string_bytes(g->of) <= TIMES * each * g->nkeys;
    }
    g->mark_inside = ours && (g->as_string || g->present[g->nkeys - 1] == BY_BITFIELD);
}

/* ---- commands ---- */
static char *append_text(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}
#define COPY(at, text) append_text(at, text, sizeof text - 1)

static char *number_arg(char *at, const char *sign, uint64_t v)
{
    char text[20];
    const size_t len = (size_t)(bf_redis_digits(text, v) - text), more = strlen(sign);
    *at++ = '$';
    at = bf_redis_digits(at, len + more);
    at = COPY(at, "\r\n");
    at = append_text(at, sign, more);
    at = append_text(at, text, len);
    return COPY(at, "\r\n");
}

static void put_bitfield(const bf_redis_request *g, const uint64_t *given, bool with_mark)
{
    bf_conn *l = g->of->conn;
    uint64_t own[BF_K_MAX];
    unsigned k;
    const bool add = g->op == BF_OP_ADD, counting = counts(g);
    const uint64_t *pos = raised(g, given, own, &k);
    bf_conn_command(l, add ? "BITFIELD %s" : "BITFIELD_RO %s", l->key);
    bf_conn_expect(l, (size_t)k + 1, 0);
    char *at = bf_conn_room(l, ((size_t)k + 1) * 64);
    if (!at) return;
    if (add && counting) at = COPY(at, "$8\r\nOVERFLOW\r\n$3\r\nSAT\r\n");
    for (unsigned i = 0; i < k; i++) {
        if (!add) at = COPY(at, "$3\r\nGET\r\n");
        if (add && !counting) at = COPY(at, "$3\r\nSET\r\n");
        if (add && counting) at = COPY(at, "$6\r\nINCRBY\r\n");
        at = counting ? COPY(at, "$2\r\nu4\r\n") : COPY(at, "$2\r\nu1\r\n");
        at = number_arg(at, counting ? "#" : "", pos[i]);
        if (add) at = number_arg(at, "", counting && g->by ? g->by[i] : 1);
    }
    if (with_mark) at = number_arg(COPY(at, "$3\r\nGET\r\n$3\r\nu32\r\n"), "", g->of->mark_at * 8);
    l->out_len = (size_t)(at - (char *)l->out.at);
    l->args += 2 * (add && counting) + (size_t)k * (add ? 4 : 3) + (with_mark ? 3 : 0);
}

static void put_key(const bf_redis_request *g, size_t key)
{
    bf_redis *r = g->of;
    const uint64_t *pos = g->pos + key * g->k;
    const unsigned bits = cell_bits(g), line = LINE / 8 * bits;
    switch (g->present[key]) {
    case BY_BITFIELD: put_bitfield(g, pos, g->mark_inside && key + 1 == g->nkeys); break;
    case BY_BYTES:
        for (unsigned j = 0; j < g->k; j++) bf_redis_append_range(r, pos[j] * bits / 8, 1);
        break;
    case BY_TWO_LINES:
        bf_redis_append_range(r, pos[0] / LINE * line, line);
        bf_redis_append_range(r, other_line(pos, g->k) * line, line);
        break;
    default: bf_redis_append_range(r, pos[0] / LINE * line, line);
    }
}

static void put_request(bf_redis_request *g, const char *about)
{
    bf_redis *r = g->of;
    make_plan(g);
    bf_conn_route(r->conn, about);
    if (g->as_string) bf_redis_append_range(r, 0, string_bytes(r));
    for (size_t i = 0; !g->as_string && i < g->nkeys; i++) put_key(g, i);
    if (!g->mark_inside && bf_redis_marked(r)) bf_redis_append_mark(r);
}

/* ---- replies ---- */
static void keep_least(unsigned *least, unsigned v)
{
    if (v < *least) *least = v;
}

/* The reply to GETRANGE, of so many bytes or less; NULL: rc says what it is. */
static const char *take_reply_bytes(
    bf_redis_request *g, uint64_t most, size_t *len, int *rc, bf_redis_outcome *a)
{
    *rc = 0;
    if (!bf_redis_next(g->of, a)) return NULL;
    const char *bytes = bf_reply_only_text(&g->of->conn->reply, len);
    if (bytes && *len <= most) return bytes;
    *rc = bf_redis_fail_protocol(g->of, a->err);
    return NULL;
}

/* What is past the end of the string is 0. */
static unsigned cell_in(const char *bytes, size_t len, uint64_t at, unsigned bits)
{
    const uint64_t bit = at * bits;
    return bit / 8 >= len ? 0
                          : (uint8_t)bytes[bit / 8] >> (8 - bits - bit % 8) & ((1U << bits) - 1);
}

/* The cells of a key that lie in one range of so many cells, the one in which pos[i] is. */
static int take_range(bf_redis_request *g, const uint64_t *pos, uint64_t of, unsigned cells,
    unsigned *least, bf_redis_outcome *a)
{
    const unsigned bits = cell_bits(g);
    const uint64_t first = of / cells * cells;
    size_t len;
    int rc;
    const char *bytes = take_reply_bytes(g, cells * bits / 8, &len, &rc, a);
    for (unsigned i = 0; bytes && i < g->k; i++) {
        const uint64_t at = pos[i] - first; /* wraps where it comes before */
        if (at < cells) keep_least(least, cell_in(bytes, len, at, bits));
    }
    return rc;
}

static uint8_t answer_of(const bf_redis_request *g, unsigned least)
{
    const unsigned before = counts(g) && g->op == BF_OP_ADD; /* INCRBY tells what came of it */
    return g->op == BF_OP_COUNT ? (uint8_t)least : least > before;
}

static int take_string(bf_redis_request *g, bf_redis_outcome *a)
{
    const unsigned bits = cell_bits(g);
    const uint64_t *pos = g->pos, at = g->of->mark_at;
    size_t len;
    int rc;
    const char *bytes = take_reply_bytes(g, string_bytes(g->of), &len, &rc, a);
    for (size_t i = 0; bytes && i < g->nkeys; i++, pos += g->k) {
        unsigned least = BF_CELL_MAX;
        for (unsigned j = 0; j < g->k && least; j++)
            keep_least(&least, cell_in(bytes, len, pos[j], bits));
        g->present[i] = answer_of(g, least);
    }
    if (bytes && !g->of->foreign) g->mark = bf_redis_mark_in(bytes + at, len > at ? len - at : 0);
    return rc;
}

static int take_bitfield(bf_redis_request *g, size_t key, unsigned *least, bf_redis_outcome *a)
{
    uint64_t own[BF_K_MAX];
    unsigned k;
    const bool with_mark = g->mark_inside && key + 1 == g->nkeys;
    const long long most = (1LL << cell_bits(g)) - 1;
    uint8_t *old = g->op == BF_OP_ADD && g->old ? g->old + key * g->k : NULL;
    if (!bf_redis_next(g->of, a)) return 0;
    raised(g, g->pos + key * g->k, own, &k);
    const bf_redis_leaf *v = g->of->conn->reply.leaves;
    if (g->of->conn->reply.n != k + (size_t)with_mark) return bf_redis_fail_protocol(g->of, a->err);
    for (unsigned i = 0; i < k + with_mark; i++)
        if (v[i].type != BF_LEAF_INTEGER || (i < k && (v[i].value < 0 || v[i].value > most)))
            return bf_redis_fail_protocol(g->of, a->err);
    for (unsigned i = 0; i < k; i++) {
        keep_least(least, (unsigned)v[i].value);
        if (old) old[i] = v[i].value == 1;
    }
    if (with_mark) g->mark = (uint32_t)v[k].value;
    return 0;
}

static int take_key(bf_redis_request *g, size_t key, bf_redis_outcome *a)
{
    const uint64_t *pos = g->pos + key * g->k;
    const unsigned a_byte = 8 / cell_bits(g);
    const uint8_t how = g->present[key];
    unsigned least = BF_CELL_MAX;
    int rc = 0;
    if (how == BY_BITFIELD) rc = take_bitfield(g, key, &least, a);
    for (unsigned j = 0; how == BY_BYTES && rc == 0 && j < g->k; j++)
        rc = take_range(g, pos, pos[j], a_byte, &least, a);
    if (how == BY_LINE || how == BY_TWO_LINES) rc = take_range(g, pos, pos[0], LINE, &least, a);
    if (how == BY_TWO_LINES && rc == 0)
        rc = take_range(g, pos, other_line(pos, g->k) * LINE, LINE, &least, a);
    g->present[key] = answer_of(g, least);
    return rc;
}

static int take_request(bf_redis_request *g, bf_redis_outcome *a)
{
    int rc = g->as_string ? take_string(g, a) : 0;
    for (size_t i = 0; !g->as_string && rc == 0 && i < g->nkeys; i++) rc = take_key(g, i, a);
    if (rc == 0 && !g->mark_inside && bf_redis_marked(g->of))
        g->mark = bf_redis_take_mark(g->of, a);
    return rc;
}

/* ---- taking back ---- */
/* Best effort: the error stands.  Of bits those that were 0, of counters all, and by how much. */
static void undo_add(const bf_redis_request *g)
{
    const unsigned k = g->k;
    bf_conn *l = g->of->conn;
    uint64_t own[BF_K_MAX];
    bf_conn_begin(l, BF_WRITES);
    bf_redis_script(g->of, bf_script_take_back, NULL);
    bf_conn_append(l, "%s", counts(g) ? "1" : "0");
    for (size_t key = 0; key < g->nkeys; key++) {
        const uint8_t *old = g->old ? g->old + key * k : NULL;
        unsigned n;
        const uint64_t *pos = raised(g, g->pos + key * k, own, &n);
        for (unsigned i = 0; i < n; i++) {
            if (old && old[i]) continue;
            bf_conn_append(l, "%n", pos[i]);
            if (counts(g)) bf_conn_append(l, "%n", (uint64_t)(g->by ? g->by[i] : 1));
        }
    }
    bf_conn_finish(l, NULL);
}

const bf_redis_op bf_redis_tests = { .put = put_request, .take = take_request };
const bf_redis_op bf_redis_adds = {
    .done = "added", .put = put_request, .take = take_request, .undo = undo_add
};
