/* trip.c - a batch of positions as one trip:
 *
 *   add    BITFIELD K SET u1 p1 1 ... SET u1 pk 1          a key: Redis sets them at once and tells what was set before
 *   test   BITFIELD_RO K GET u1 p1 ...                     a key; where its bits lie in one line of 64 bytes or in two,
 *          GETRANGE K line                                 per line: half the cost
 *   mark   GET u32 in the last BITFIELD, or one more GETRANGE: the last thing every trip reads of a key
 *   born   HGET K:meta, after the parts of a filter that forgets: K:meta may be lost, and created again, without them
 *   WAIT   after an add, where so many replicas are to have it
 *
 * Where the batch goes to several shards their commands follow each other in the same trip.  A lost
 * key is an error, never "absent".  Tests that a fault of the connection ended are sent once more,
 * adds never. */
#include "parts/filter.h"
#include "redis/redis.h"
#include <string.h>

enum { LINE = 64 };

/* ---- commands of a batch ---- */
/* The lines of 64 bytes in which the bits of a key lie, where they are one or two; else 0. */
static unsigned lines_of(const uint64_t *pos, unsigned k, uint64_t line[2])
{
    unsigned n = 0;
    for (unsigned i = 0; i < k; i++) {
        uint64_t at = pos[i] / (8 * LINE);
        if ((n > 0 && at == line[0]) || (n > 1 && at == line[1])) continue;
        if (n == 2) return 0;
        line[n++] = at;
    }
    return n;
}

static char *copy(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}
#define COPY(at, text) copy(at, text, sizeof text - 1)

static char *number_arg(char *at, uint64_t v)
{
    char text[20];
    size_t len = (size_t)(bf_redis_digits(text, v) - text);
    *at++ = '$';
    at = bf_redis_digits(at, len);
    at = COPY(at, "\r\n");
    at = copy(at, text, len);
    return COPY(at, "\r\n");
}

static void put_bitfield(bf_redis *r, int op, const uint64_t *pos, unsigned k, bool with_mark)
{
    bf_link *l = r->link;
    bool add = op == BF_OP_ADD;
    bf_link_count(l, 2 + (size_t)k * (add ? 4 : 3) + (with_mark ? 3 : 0));
    bf_link_allow(l, (size_t)k + 1, 0);
    bf_link_word(l, add ? "BITFIELD" : "BITFIELD_RO");
    bf_link_word(l, l->key);
    char *at = bf_link_room(l, ((size_t)k + 1) * 64);
    if (!at) return;
    for (unsigned i = 0; i < k; i++) {
        at = add ? COPY(at, "$3\r\nSET\r\n$2\r\nu1\r\n") : COPY(at, "$3\r\nGET\r\n$2\r\nu1\r\n");
        at = number_arg(at, pos[i]);
        if (add) at = COPY(at, "$1\r\n1\r\n");
    }
    if (with_mark) at = number_arg(COPY(at, "$3\r\nGET\r\n$3\r\nu32\r\n"), r->mark_at * 8);
    l->out_len = (size_t)(at - l->out);
}

static void put_getbits(bf_redis *r, const uint64_t *pos, unsigned k)
{
    bf_link *l = r->link;
    for (unsigned i = 0; i < k; i++) {
        bf_link_count(l, 3);
        bf_link_word(l, "GETBIT");
        bf_link_word(l, l->key);
        bf_link_number(l, pos[i]);
    }
}

/* A single test of a client is one command: several cost phpredis a pipeline. */
static bool by_lines(const bf_redis *r, int op, const bf_redis_group *g)
{
    return op == BF_OP_TEST && !(r->link->client && g->nkeys == 1);
}

/* Is the mark in the last key's BITFIELD, or a command of its own? */
static bool mark_inside(const bf_redis *r, int op, const bf_redis_group *g, unsigned k)
{
    uint64_t line[2];
    if (r->foreign || g->nkeys == 0) return false;
    const bool lines = by_lines(r, op, g) && lines_of(g->pos + (g->nkeys - 1) * k, k, line) > 0;
    return op == BF_OP_ADD || (!lines && !r->link->no_bitfield_ro);
}

static void put_group(const bf_redis_group *g, unsigned k)
{
    bf_redis *r = g->of;
    const int op = g->op;
    const uint64_t *pos = g->pos;
    const bool inside = mark_inside(r, op, g, k), lined = by_lines(r, op, g);
    uint64_t line[2];
    for (size_t i = 0; i < g->nkeys; i++, pos += k) {
        unsigned lines = lined ? lines_of(pos, k, line) : 0;
        for (unsigned j = 0; j < lines; j++) bf_redis_put_range(r, line[j] * LINE, LINE);
        if (lines == 0 && op == BF_OP_TEST && r->link->no_bitfield_ro)
            put_getbits(r, pos, k);
        else if (lines == 0)
            put_bitfield(r, op, pos, k, inside && i + 1 == g->nkeys);
        bf_link_push(r->link);
    }
    if (!inside && bf_redis_marked(r)) bf_redis_put_mark(r);
}

/* Half of the time that a trip may take: its answer must come before that is over, and Redis looks
 * at its clock every 100 ms. */
void bf_redis_put_wait(bf_redis *r)
{
    if (!r->wait_replicas) return;
    bf_link_count(r->link, 3);
    bf_link_word(r->link, "WAIT");
    bf_link_number(r->link, r->wait_replicas);
    bf_link_number(r->link, (uint64_t)(r->link->url.timeout * 500));
}

/* ---- replies of a batch ---- */
typedef struct {
    uint32_t mark;      /* of the last group */
    int refused;        /* the first error reply, as a code; its text is in err */
    bool tests;         /* what is being taken are a test's */
    bool unknown;       /* a test's says: unknown command */
    int64_t born;       /* of the whole, where it is asked for */
    long long replicas; /* the fewest that WAIT told of, -1: not asked */
} answers;

static int next(bf_redis *r, answers *a, bf_error *err)
{
    char text[32];
    int rc = bf_link_next(r->link, err);
    if (rc < 0 || a->refused || !bf_reply_error(&r->link->reply, text, sizeof text)) return rc;
    a->unknown = a->tests && !strncmp(text, "ERR unknown command", 19);
    a->refused = bf_link_refusal(r->link, err);
    return 0;
}

static int take_lines(bf_redis *r, const uint64_t *pos, unsigned k, const uint64_t *line,
    unsigned lines, answers *a, bool *all, bf_error *err)
{
    for (unsigned j = 0; j < lines; j++) {
        size_t len;
        int rc = next(r, a, err);
        if (rc < 0) return rc;
        const char *bytes = bf_reply_only_text(&r->link->reply, &len);
        if (a->refused) continue;
        if (!bytes || len > LINE) return bf_redis_nonsense(r, err);
        for (unsigned i = 0; i < k; i++) {
            uint64_t at =
                pos[i] / 8 - line[j] * LINE; /* wraps where the bit is in the other line */
            if (at < LINE) *all &= at < len && ((uint8_t)bytes[at] & 0x80 >> pos[i] % 8) != 0;
        }
    }
    return 0;
}

static int take_bitfield(
    bf_redis *r, unsigned k, uint8_t *old, bool with_mark, answers *a, bool *all, bf_error *err)
{
    const bf_redis_leaf *v = NULL;
    int rc = next(r, a, err);
    if (rc < 0 || a->refused) return rc;
    if (r->link->reply.n != k + (size_t)with_mark) return bf_redis_nonsense(r, err);
    v = r->link->reply.leaves;
    for (unsigned i = 0; i < k + with_mark; i++)
        if (v[i].type != BF_LEAF_INTEGER) return bf_redis_nonsense(r, err);
    for (unsigned i = 0; i < k; i++) {
        *all &= v[i].value == 1;
        if (old) old[i] = v[i].value == 1;
    }
    if (with_mark) a->mark = (uint32_t)v[k].value;
    return 0;
}

static int take_getbits(bf_redis *r, unsigned k, answers *a, bool *all, bf_error *err)
{
    for (unsigned i = 0; i < k; i++) {
        long long v = 0;
        int rc = next(r, a, err);
        if (rc < 0) return rc;
        if (!a->refused && !bf_reply_integer(&r->link->reply, 0, &v))
            return bf_redis_nonsense(r, err);
        *all &= v == 1;
    }
    return 0;
}

static int take_group(bf_redis_group *g, unsigned k, answers *a, bf_error *err)
{
    bf_redis *r = g->of;
    const int op = g->op;
    const uint64_t *pos = g->pos;
    const bool inside = mark_inside(r, op, g, k), lined = by_lines(r, op, g);
    uint64_t line[2];
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < g->nkeys; i++, pos += k) {
        bool all = true;
        unsigned lines = lined ? lines_of(pos, k, line) : 0;
        if (lines)
            rc = take_lines(r, pos, k, line, lines, a, &all, err);
        else if (op == BF_OP_TEST && r->link->no_bitfield_ro)
            rc = take_getbits(r, k, a, &all, err);
        else
            rc = take_bitfield(r, k, op == BF_OP_ADD ? g->old + i * k : NULL,
                inside && i + 1 == g->nkeys, a, &all, err);
        g->present[i] = all;
    }
    g->mark = a->mark;
    if (rc < 0 || inside || !bf_redis_marked(r)) return rc;
    if ((rc = next(r, a, err)) < 0 || a->refused) return rc;
    g->mark = bf_redis_take_mark(r);
    return 0;
}

static void put_born(bf_redis *r)
{
    bf_link *l = r->link;
    bf_link_about(l, r->key);
    bf_link_count(l, 3);
    bf_link_word(l, "HGET");
    bf_link_word(l, r->meta);
    bf_link_word(l, "born");
}

static int take_born(bf_redis *r, answers *a, bf_error *err)
{
    int rc = next(r, a, err);
    if (rc < 0 || a->refused) return rc;
    a->born = bf_redis_number_in(&r->link->reply, 0, 16);
    return 0;
}

/* Adds to the parts of a filter that was lost are acknowledged to nobody, and what the parts lack
 * is no answer: span.c looks then what has become of the whole. */
static int whole_stands(bf_redis *r, const answers *a, bf_error *err)
{
    if (!r->by_born || (a->born > 0 ? a->born : 0) == r->born) return 0;
    r->fate = BF_MISSING;
    return bf_redis_lost(r, err);
}

static int take_wait(bf_redis *r, answers *a, bf_error *err)
{
    long long got = 0;
    int rc = next(r, a, err);
    if (rc < 0 || (a->refused && !a->unknown)) return rc;
    if (!bf_reply_integer(&r->link->reply, 0, &got)) return bf_redis_nonsense(r, err);
    if (a->replicas < 0 || got < a->replicas) a->replicas = got;
    return 0;
}

int bf_redis_enough(const bf_redis *r, long long have, bf_error *err)
{
    if (!r->wait_replicas || have >= (long long)r->wait_replicas) return 0;
    return bf_fail(err, BF_EIO,
        "%s: added, but only %lld of wait_replicas=%u replicas had it in time", bf_redis_label(r),
        have, r->wait_replicas);
}

/* ---- a trip: the groups that are pending, from first on; to all, or where the answerer is a
 * cluster to one ---- */
/* All parts of a filter are in one slot. */
static const char *about(const bf_redis *r, const bf_redis_group *g)
{
    return g->of->guest ? r->key : g->of->link->key;
}

static bool adds(const bf_redis_group *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (g[i].pending && g[i].op == BF_OP_ADD) return true;
    return false;
}

static int trip(bf_redis *r, bf_redis_group *g, size_t n, unsigned k, answers *a, bf_error *err)
{
    const bool add = adds(g, n), wait = add && r->wait_replicas;
    int rc = bf_link_begin(r->link, add, err);
    if (rc < 0) return rc;
    for (size_t i = 0; i < n; i++)
        if (g[i].pending) {
            bf_redis_select(g[i].of, g[i].shard);
            bf_link_about(r->link, about(r, g + i));
            put_group(g + i, k);
        }
    if (r->by_born) put_born(r);
    if (wait) bf_redis_put_wait(r);
    if ((rc = bf_link_send(r->link, err)) < 0) return rc;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (g[i].pending) {
            bf_redis_select(g[i].of, g[i].shard);
            a->mark = 0;
            a->tests = g[i].op == BF_OP_TEST;
            rc = take_group(g + i, k, a, err);
        }
    if (rc == 0 && r->by_born) rc = take_born(r, a, err);
    return rc == 0 && wait ? take_wait(r, a, err) : rc;
}

static int trips(bf_redis *r, bf_redis_group *g, size_t n, unsigned k, answers *a, bf_error *err)
{
    const size_t step = r->link->one_slot && r->slot ? 1 : n;
    int rc = 0;
    *a = (answers){ .replicas = -1 };
    for (size_t i = 0; rc == 0 && !a->refused && i < n; i += step)
        if (step > 1 || g[i].pending) rc = trip(r, g + i, step, k, a, err);
    return rc;
}

/* ---- a batch ---- */
/* A group whose bits were exchanged meanwhile is to be asked again. */
int bf_redis_follow_group(bf_redis_group *g, bool *pending, bf_error *err)
{
    if (!g->pending) return 0;
    bf_redis_select(g->of, g->shard);
    int rc = bf_redis_follow(g->of, g->mark, &g->pending, err);
    *pending |= g->pending;
    return rc;
}

/* Once more: after a fault of a connection that stood; where the bits were exchanged between two
 * commands of the trip; where BITFIELD_RO turned out to be missing. */
int bf_redis_test(bf_redis *r, bf_redis_group *g, size_t n, unsigned k, bf_error *err)
{
    answers a;
    bool pending = true, retried = false;
    for (int tries = 0; pending && tries < 10; tries++) {
        int rc = trips(r, g, n, k, &a, err);
        if (rc < 0 && !retried && !r->link->fresh && !r->link->timed_out) {
            retried = true;
            continue;
        }
        if (rc < 0) return rc;
        if (a.unknown && !r->link->no_bitfield_ro) {
            r->link->no_bitfield_ro = true;
            continue;
        }
        if (a.refused) return a.refused;
        if (!bf_redis_marked(r)) return 0;
        pending = false;
        for (size_t i = 0; i < n; i++)
            if ((rc = bf_redis_follow_group(g + i, &pending, err)) < 0) return rc;
        if (!pending && (rc = whole_stands(r, &a, err)) < 0) return rc;
    }
    return pending ? bf_fail(err, BF_EIO, "%s is re-created too often: no reply", bf_redis_label(r))
                   : 0;
}

int bf_redis_not_sure(bf_redis *r, bf_error *err)
{
    if (!err || err->code != BF_EIO) return err ? err->code : BF_EIO;
    if (err->sys_errno)
        return bf_fail_sys(
            err, err->sys_errno, "tell what was added: no reply from", bf_redis_label(r));
    if (!r->link->client)
        return bf_fail(
            err, BF_EIO, "%s: cannot tell what was added: unexpected reply", bf_redis_label(r));
    const bf_error said = *err; /* the host's own words */
    return bf_fail(err, BF_EIO, "cannot tell what was added: %.130s", said.msg);
}

/* What was added to it: a lost name takes back what was written to it. */
static int settle_add(bf_redis_group *g, unsigned k, bf_error *err)
{
    bf_redis *r = g->of;
    bool changed = false;
    r->note = BF_SENT_IN;
    int rc = bf_redis_follow_group(g, &changed, err);
    r->note = NULL;
    if (rc < 0 && !g->pending && r->link->stands)
        bf_redis_undo(r, g->pos, g->old, g->nkeys * k, NULL);
    g->pending = rc < 0 && g->pending;
    return rc;
}

/* Every lost shard takes back what was written to it, whatever became of the others; the first
 * error is the error. */
static int settle(bf_redis_group *g, size_t n, unsigned k, bf_error *err)
{
    int first = 0, anew = 0;
    for (size_t i = 0; i < n; i++) {
        if (g[i].op != BF_OP_ADD) continue;
        int rc = settle_add(g + i, k, first < 0 ? NULL : err);
        if (rc < 0 && g[i].pending)
            anew = rc; /* re-created: they are in it */
        else if (first == 0)
            first = rc;
        g[i].pending = false;
    }
    return first < 0 ? first : anew;
}

/* What was only tested beside the adds, and is to be asked again. */
static int settle_tests(
    bf_redis *r, bf_redis_group *g, size_t n, unsigned k, bool unanswered, bf_error *err)
{
    bool pending = false;
    int rc = 0;
    for (size_t i = 0; unanswered && i < n; i++) pending |= g[i].pending;
    for (size_t i = 0; rc == 0 && !unanswered && i < n; i++)
        rc = bf_redis_follow_group(g + i, &pending, err);
    return rc == 0 && pending ? bf_redis_test(r, g, n, k, err) : rc;
}

/* The groups that are added to come first: where BITFIELD_RO turns out to be missing, they have
 * been told what became of them, and only the tests are sent again. */
int bf_redis_add(bf_redis *r, bf_redis_group *g, size_t n, unsigned k, bf_error *err)
{
    answers a;
    int rc = trips(r, g, n, k, &a, err);
    if (rc < 0) return r->link->sent || r->link->one_slot ? bf_redis_not_sure(r, err) : rc;
    const bool unanswered = a.unknown && !r->link->no_bitfield_ro;
    if (unanswered)
        r->link->no_bitfield_ro = true;
    else if (a.refused)
        return a.refused;
    if (bf_redis_marked(r)) rc = settle(g, n, k, err);
    if (rc == 0 && !unanswered) rc = whole_stands(r, &a, err);
    if (rc == 0 && bf_redis_marked(r)) rc = settle_tests(r, g, n, k, unanswered, err);
    return rc < 0 ? rc : bf_redis_enough(r, a.replicas, err);
}

int bf_redis_marks(bf_redis *r, bf_redis_group *g, size_t n, bf_error *err)
{
    answers a;
    int rc = trips(r, g, n, 1, &a, err);
    return rc < 0 ? rc : a.refused;
}
