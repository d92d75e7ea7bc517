/* bitfield.c - tests of cells (bits or counters) at positions in one Redis key; batch.c sends the
 * commands. There are four ways to read the cells:
 *
 *   BITFIELD_RO K GET u1 p1 ...   one command per key
 *   GETRANGE K from to            reads a line of 512 cells; half the cost, if one or two lines
 *                                 contain all cells of the key
 *   GETRANGE K from to            reads one byte per cell, if the server has no BITFIELD_RO
 *   GETRANGE K 0 to               reads the complete string for all keys, if the string is short
 *
 * The mark is read last: with the string, with the last BITFIELD_RO, or by further commands. Before
 * it, a test of a forgetting filter reads the time. */
#include "redis/redis.h"

/* LINE: cells in a line. Bytes on the network: RANGE_BYTES for a GETRANGE and its reply, without
 * the range itself; GET_BYTES for one position of a BITFIELD_RO. A batch of at least KEYS_LEAST
 * keys reads the complete string if the string is at most TIMES as long as the other commands and
 * replies: for Redis, one long reply is less work than many short commands. */
enum { LINE = 512, RANGE_BYTES = 72, GET_BYTES = 35, TIMES = 2, KEYS_LEAST = 16 };

static bool is_counting(const bf_redis_request *g) { return g->of->desc.g.counting; }
static unsigned cell_bits(const bf_redis_request *g) { return is_counting(g) ? BF_CELL_BITS : 1; }

/* ---- how a key is read: by BITFIELD_RO, or by one or more ranges ---- */
enum { BY_BITFIELD, BY_LINE, BY_TWO_LINES, BY_BYTES };

static unsigned ranges_of(const bf_redis_request *g, uint8_t how)
{
    return how == BY_BYTES ? g->k : how;
}

typedef struct {
    uint64_t first, cells;
    const char *bytes; /* the received bytes; NULL: none yet */
    size_t len;
} cell_range;

static cell_range cells_at(const bf_redis_request *g, uint8_t how, const uint64_t *pos, unsigned i)
{
    const unsigned cells = how == BY_BYTES ? 8 / cell_bits(g) : LINE;
    unsigned j = how == BY_BYTES ? i : 0;
    while (how == BY_TWO_LINES && i == 1 && j + 1 < g->k && pos[j] / LINE == pos[0] / LINE) j++;
    return (cell_range){ .first = pos[j] / cells * cells, .cells = cells };
}

/* Chooses how a key is read. A single test through a host's client is always one command,
 * because phpredis would need a pipeline for several. */
static uint8_t choose_way(const bf_redis_request *g, const uint64_t *pos)
{
    unsigned in_first = 0, in_second = 0;
    if (g->of->conn->socket || g->nkeys > 1) {
        const uint64_t first = cells_at(g, BY_TWO_LINES, pos, 0).first / LINE,
                       second = cells_at(g, BY_TWO_LINES, pos, 1).first / LINE;
        for (unsigned i = 0; i < g->k; i++) {
            in_first += pos[i] / LINE == first;
            in_second += pos[i] / LINE == second;
        }
        if (in_first == g->k) return BY_LINE;
        if (!is_counting(g) && in_first + in_second == g->k) return BY_TWO_LINES;
    }
    return g->of->conn->no_bitfield_ro ? BY_BYTES : BY_BITFIELD;
}

static uint64_t string_bytes(const bf_redis *r)
{
    return r->foreign ? (r->bits + 7) / 8 : r->mark_at + bf_redis_mark_bytes(r);
}

/* Chooses how each key is read, whether the complete string is read, and whether the mark is in
 * the same reply as cells: a BITFIELD_RO does not show where the string ends. */
static void choose_ways(bf_redis_request *g)
{
    const uint64_t string = string_bytes(g->of);
    for (size_t i = 0; i < g->nkeys; i++) g->present[i] = choose_way(g, g->pos + i * g->k);
    g->as_string = g->nkeys >= KEYS_LEAST && string <= BF_REDIS_STEP;
    if (g->as_string) {
        const unsigned lines = g->present[0] == BY_BYTES ? 0 : g->present[0];
        const size_t each = lines ? lines * (RANGE_BYTES + LINE / 8 * (size_t)cell_bits(g))
                                  : (size_t)g->k * GET_BYTES;
        g->as_string = string <= TIMES * each * g->nkeys;
    }
    g->mark_inside =
        !g->of->foreign && g->nkeys > 0 && !bf_redis_mark_apart(g->of) &&
        (g->as_string || (!g->of->desc.kind && g->present[g->nkeys - 1] == BY_BITFIELD));
}

/* ---- commands ---- */
/* Writes a number as an argument of a command, with # in front if it is the index of a counter. */
static char *append_number(char *at, bool counter, uint64_t v)
{
    char digits[20];
    const size_t len = (size_t)(bf_redis_digits(digits, v) - digits), all = len + counter;
    *at++ = '$';
    if (all > 9) *at++ = (char)('0' + all / 10);
    *at++ = (char)('0' + all % 10);
    *at++ = '\r';
    *at++ = '\n';
    if (counter) *at++ = '#';
    memcpy(at, digits, len);
    at[len] = '\r';
    at[len + 1] = '\n';
    return at + len + 2;
}

static void append_bitfield(const bf_redis_request *g, const uint64_t *pos, bool with_mark)
{
    static const char *const heads[2] = { "$3\r\nGET\r\n$2\r\nu1\r\n",
        "$3\r\nGET\r\n$2\r\nu4\r\n" };
    bf_conn *l = g->of->conn;
    bf_conn_command(l, "BITFIELD_RO %s", l->key);
    bf_conn_expect(l, (size_t)g->k + 1, 0);
    char *at = bf_conn_room(l, (size_t)g->k * 64);
    if (!at) return;
    const char *head = heads[is_counting(g)];
    const size_t len = strlen(head);
    for (unsigned i = 0; i < g->k; i++) {
        memcpy(at, head, len);
        at = append_number(at + len, is_counting(g), pos[i]);
    }
    l->out_len = (size_t)(at - (char *)l->out.at);
    l->args += (size_t)g->k * 3;
    if (with_mark) bf_conn_append(l, "GET u32 %n", g->of->mark_at * 8);
}

void bf_redis_append_tests(bf_redis_request *g)
{
    bf_redis *r = g->of;
    const unsigned bits = cell_bits(g);
    choose_ways(g);
    bf_conn_route(r->conn, r->key);
    if (r->desc.kind == BF_WINDOW && g->as_string) bf_conn_command(r->conn, "TIME");
    if (g->as_string) bf_redis_append_range(r, 0, string_bytes(r));
    for (size_t key = 0; !g->as_string && key < g->nkeys; key++) {
        const uint64_t *pos = g->pos + key * g->k;
        const uint8_t how = g->present[key];
        if (how == BY_BITFIELD) append_bitfield(g, pos, g->mark_inside && key + 1 == g->nkeys);
        for (unsigned i = 0; i < ranges_of(g, how); i++) {
            const cell_range range = cells_at(g, how, pos, i);
            bf_redis_append_range(r, range.first * bits / 8, range.cells * bits / 8);
        }
    }
    if (r->desc.kind == BF_WINDOW && !g->as_string) bf_conn_command(r->conn, "TIME");
    if (!g->mark_inside && bf_redis_marked(r)) bf_redis_append_mark(r);
}

/* ---- replies ---- */
/* Reads the reply to the GETRANGE of a range. On failure range->bytes stays NULL: after an error
 * reply (stored in *a), or after any other error (stored in *rc). */
static void take_range(bf_redis_request *g, cell_range *range, int *rc, bf_redis_outcome *a)
{
    if (!bf_redis_next(g->of, a)) return;
    range->bytes = bf_reply_only_text(&g->of->conn->reply, &range->len);
    if (range->bytes && range->len <= range->cells * cell_bits(g) / 8) return;
    range->bytes = NULL;
    *rc = bf_redis_fail_protocol(g->of, a->err);
}

/* Lowers *least to the smallest value of the key's cells in this range. Cells after the end of the
 * string are 0. */
static void find_least(
    const bf_redis_request *g, const uint64_t *pos, const cell_range *range, unsigned *least)
{
    const unsigned bits = cell_bits(g);
    for (unsigned i = 0; range->bytes && i < g->k && *least; i++) {
        if (pos[i] - range->first >= range->cells)
            continue; /* outside the range; for smaller positions the difference wraps */
        const uint64_t bit = (pos[i] - range->first) * bits;
        unsigned cell = 0;
        if (bit / 8 < range->len)
            cell = (uint8_t)range->bytes[bit / 8] >> (8 - bits - bit % 8) & ((1U << bits) - 1);
        if (cell < *least) *least = cell;
    }
}

static uint8_t present_of(const bf_redis_request *g, unsigned least)
{
    return g->op == BF_OP_COUNT ? (uint8_t)least : least > 0;
}

static int take_bitfield(bf_redis_request *g, size_t key, unsigned *least, bf_redis_outcome *a)
{
    const unsigned k = g->k;
    const bool with_mark = g->mark_inside && key + 1 == g->nkeys;
    const long long most = (1LL << cell_bits(g)) - 1;
    if (!bf_redis_next(g->of, a)) return 0;
    const bf_redis_reply *reply = &g->of->conn->reply;
    if (reply->n != k + (size_t)with_mark) return bf_redis_fail_protocol(g->of, a->err);
    for (unsigned i = 0; i < reply->n; i++) {
        long long v;
        if (!bf_reply_integer(reply, i, &v) || (i < k && (v < 0 || v > most)))
            return bf_redis_fail_protocol(g->of, a->err);
        if (i == k)
            g->mark = (uint32_t)v;
        else if (v < *least)
            *least = (unsigned)v;
    }
    return 0;
}

static int take_key(bf_redis_request *g, size_t key, bf_redis_outcome *a)
{
    const uint64_t *pos = g->pos + key * g->k;
    const uint8_t how = g->present[key];
    unsigned least = BF_CELL_MAX;
    int rc = how == BY_BITFIELD ? take_bitfield(g, key, &least, a) : 0;
    for (unsigned i = 0; rc == 0 && i < ranges_of(g, how); i++) {
        cell_range range = cells_at(g, how, pos, i);
        take_range(g, &range, &rc, a);
        find_least(g, pos, &range, &least);
    }
    g->present[key] = present_of(g, least);
    return rc;
}

static int take_string(bf_redis_request *g, bf_redis_outcome *a)
{
    const uint64_t at = g->of->mark_at;
    cell_range all = { .cells = string_bytes(g->of) * 8 / cell_bits(g) };
    int rc = 0;
    take_range(g, &all, &rc, a);
    for (size_t i = 0; all.bytes && i < g->nkeys; i++) {
        unsigned least = BF_CELL_MAX;
        find_least(g, g->pos + i * g->k, &all, &least);
        g->present[i] = present_of(g, least);
    }
    if (all.bytes && !g->of->foreign)
        g->mark = bf_redis_mark_in(all.bytes + at, all.len > at ? all.len - at : 0);
    return rc;
}

/* Reads the reply to TIME. */
int bf_redis_take_time(bf_redis *r, double *time, bf_error *err)
{
    const bf_redis_reply *reply = &r->conn->reply;
    const int64_t seconds = bf_reply_number(reply, 0, 10), more = bf_reply_number(reply, 1, 10);
    if (reply->n != 2 || seconds < 0 || seconds > INT64_C(1) << 40 || more < 0 || more > 999999)
        return bf_redis_fail_protocol(r, err);
    *time = (double)seconds + (double)more / 1e6;
    return 0;
}

static int take_time(bf_redis_request *g, bf_redis_outcome *a)
{
    if (g->of->desc.kind != BF_WINDOW || !bf_redis_next(g->of, a)) return 0;
    return bf_redis_take_time(g->of, &g->time, a->err);
}

int bf_redis_take_tests(bf_redis_request *g, bf_redis_outcome *a)
{
    int rc = g->as_string ? take_time(g, a) : 0;
    if (rc == 0 && g->as_string) rc = take_string(g, a);
    for (size_t i = 0; !g->as_string && rc == 0 && i < g->nkeys; i++) rc = take_key(g, i, a);
    if (rc == 0 && !g->as_string) rc = take_time(g, a);
    if (rc == 0 && !g->mark_inside && bf_redis_marked(g->of))
        g->mark = bf_redis_take_mark(g->of, a);
    return rc;
}
