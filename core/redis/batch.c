/* batch.c - sends a batch in one round trip. Adds and removes are here, tests in bitfield.c.
 *
 * A round trip has one request per Redis key (shard). A test reads the mark last. WAIT comes last.
 *
 * A lost key is an error, never "absent". A script changes nothing unless it finds the known mark.
 * So no change goes into another filter or another system's string under the same name. Only
 * changes that were not done are sent again.
 *
 *   add      EVAL script K ...      at most ADD_POSITIONS positions: sets bits, adds to counters;
 *                                   a shorter script for one key
 *   remove   EVAL script K ...      at most REMOVE_KEYS keys: decrements counters of present keys,
 *                                   except counters with the value 15 */
#include "redis/redis.h"

enum { ADD_POSITIONS = 1024, REMOVE_KEYS = 50, REMOVE_POSITIONS = 1500, SUMS = 250 };
enum { ONE_KEY_POSITIONS = 64 }; /* larger k: the packed positions of bf_script_add are shorter */
enum { ENDS = 3 };               /* NULs after the positions; the scripts read four at once */
_Static_assert(SUMS <= ADD_POSITIONS, "what is united goes into one script");

/* Returns the number of keys in the next script, if nkeys are left. */
static size_t keys_per_script(const bf_redis_request *g, size_t nkeys)
{
    const bool add = g->op == BF_OP_ADD;
    size_t most = (add ? ADD_POSITIONS : REMOVE_POSITIONS) / g->k;
    if (!add && most > REMOVE_KEYS) most = REMOVE_KEYS;
    return most < 1 ? 1 : nkeys < most ? nkeys : most;
}

/* ---- commands ---- */
/* Starts a script over K. Passes the companion hash only to scripts that read it: a cluster that
 * moves a slot may refuse commands with several keys of this slot for some time. */
static void begin_script(const bf_redis *r, int op)
{
    const bool hash = r->foreign || bf_redis_mark_apart(r);
    bf_conn *l = r->conn;
    bf_conn_eval(l,
        r->redisson       ? bf_script_add_redisson
        : r->foreign      ? bf_script_add_foreign
        : op == BF_OP_ADD ? bf_script_add
                          : bf_script_count_down,
        1 + hash);
    bf_conn_append(l, hash ? "%s %s" : "%s", r->key, r->meta);
    if (r->redisson)
        bf_conn_append(l, "%n %n", r->desc.g.m, (uint64_t)r->desc.g.k);
    else if (r->foreign)
        bf_conn_append(l, "%s %n", "", r->desc.g.m);
    else
        bf_conn_append(l, "%n %x", r->mark_at, r->mark);
}

/* Appends the positions of the keys and, for counters, the increment of each position. If a key has
 * the same position twice, one of the increments is 0. */
static void append_positions(bf_redis_request *g, const uint64_t *pos, size_t nkeys)
{
    const bool counting = g->of->desc.g.counting;
    const unsigned k = g->k;
    const size_t places = nkeys * k;
    uint64_t own[BF_K_MAX];
    /* space per position: 13 bytes of text ('#', digits, NUL), and one byte in by */
    char *text = malloc(places * 14 + ENDS), *at = text;
    g->of->conn->no_memory |= !text;
    if (!text) return;
    uint8_t *by = (uint8_t *)text + places * 13 + ENDS, *raise = by;
    for (size_t i = 0; i < nkeys; i++, pos += k) {
        unsigned n = k;
        if (counting) n = bf_counters_distinct(memcpy(own, pos, k * sizeof *own), k);
        for (unsigned j = 0; j < k; j++) {
            if (counting) *at++ = '#';
            at = bf_redis_digits(at, !counting ? pos[j] : own[j < n ? j : 0]);
            *at++ = 0;
            *raise++ = j >= n ? 0 : g->by ? g->by[j] : 1;
        }
    }
    for (int i = 0; i < ENDS; i++) *at++ = 0;
    bf_conn_append(g->of->conn, "%n %b %b %n", (uint64_t)k, text, (size_t)(at - text), by,
        counting ? places : 0, (uint64_t)places);
    free(text);
}

/* Returns true if append_one_key can send the request. */
static bool is_one_key(const bf_redis_request *g)
{
    const bf_redis *r = g->of;
    return g->op == BF_OP_ADD && g->nkeys == 1 && g->k <= ONE_KEY_POSITIONS && r->mark != 0 &&
           !r->desc.g.counting && !r->foreign && !r->redisson && !bf_redis_mark_apart(r);
}

static void append_one_key(bf_redis_request *g)
{
    const bf_redis *r = g->of;
    bf_conn_eval(r->conn, bf_script_add_one, 1);
    bf_conn_append(
        r->conn, "%s %n %n %r", r->key, r->mark_at, r->mark_at + BF_REDIS_MARK - 1, r->mark);
    for (unsigned j = 0; j < g->k; j++) bf_conn_append(r->conn, "SET u1 %n 1", g->pos[j]);
}

static void append_changes(bf_redis_request *g)
{
    for (size_t at = 0, c; at < g->nkeys; at += c) {
        c = keys_per_script(g, g->nkeys - at);
        bf_conn_new_request(g->of->conn);
        bf_conn_route(g->of->conn, g->of->key);
        if (is_one_key(g)) {
            append_one_key(g);
        } else {
            begin_script(g->of, g->op);
            append_positions(g, g->pos + at * g->k, c);
        }
        bf_conn_expect(g->of->conn, c + 1, 0);
    }
    /* a host's client may run a request as one script, and a script cannot contain EVAL */
    bf_conn_new_request(g->of->conn);
}

/* ---- replies: 1 or 0 for each key, or -1; then the present mark ---- */
/* Reads the replies. If a script did not find the mark, no later script found it. A remove then
 * keeps only the keys of these scripts in the request. An add keeps all keys, because the bits that
 * earlier scripts set have been replaced. */
static int take_changes(bf_redis_request *g, bf_redis_outcome *a)
{
    const bf_redis_reply *reply = &g->of->conn->reply;
    size_t done = 0;
    long long v;
    g->mark = g->of->mark;
    for (size_t at = 0, c; at < g->nkeys; at += c) {
        c = keys_per_script(g, g->nkeys - at);
        if (!bf_redis_next(g->of, a)) continue;
        const bool other = bf_reply_integer(reply, 0, &v) && v == -1;
        const size_t last = other ? 1 : c;
        if (reply->n != last + 1 || !bf_reply_integer(reply, last, &v) || v < 0 || v > UINT32_MAX)
            return bf_redis_fail_protocol(g->of, a->err);
        if (!other && bf_redis_marked(g->of) && v != g->of->mark)
            return bf_redis_fail_protocol(g->of, a->err);
        if (other) g->mark = (uint32_t)v;
        if (other && !bf_redis_marked(g->of)) a->refused = bf_redis_fail_lost(g->of, a->err);
        for (size_t i = 0; !other && i < c; i++) {
            if (!bf_reply_integer(reply, i, &v) || v < 0 || v > 1)
                return bf_redis_fail_protocol(g->of, a->err);
            g->present[done++] = (uint8_t)v;
        }
    }
    if (g->op == BF_OP_ADD) return 0;
    g->pos += done * g->k;
    g->present += done;
    g->nkeys -= done;
    return 0;
}

/* ---- one round trip ---- */
/* WAIT gets half of the timeout: Redis may reply to WAIT 100 ms late, and the reply must arrive
 * before the timeout. */
void bf_redis_append_wait(bf_redis *r)
{
    if (!r->wait_replicas) return;
    bf_conn_command(
        r->conn, "WAIT %n %n", (uint64_t)r->wait_replicas, (uint64_t)(r->conn->url.timeout * 500));
}

/* Returns "added" or "removed"; NULL: the request only tests. */
static const char *done_by(const bf_redis_request *g)
{
    return g->op == BF_OP_ADD ? "added" : g->op == BF_OP_REMOVE ? "removed" : NULL;
}

static int take_wait(bf_redis *r, bf_redis_outcome *a)
{
    long long got = 0;
    if (!bf_redis_next(r, a) && !a->unknown) return 0;
    if (!bf_reply_integer(&r->conn->reply, 0, &got)) return bf_redis_fail_protocol(r, a->err);
    if (a->replicas < 0 || got < a->replicas) a->replicas = got;
    return 0;
}

int bf_redis_check_replicas(const bf_redis *r, const char *done, long long have, bf_error *err)
{
    if (!r->wait_replicas || have >= (long long)r->wait_replicas) return 0;
    return bf_fail(err, BF_EIO, "%s: %s, but only %lld of wait_replicas=%u replicas had it in time",
        r->label, done, have, r->wait_replicas);
}

/* Returns done_by of the first pending change; NULL: all pending requests only test. */
static const char *changes(const bf_redis_request *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (g[i].pending && done_by(g + i)) return done_by(g + i);
    return NULL;
}

/* Sends the pending requests of g and reads the replies. */
static int round_trip(bf_redis *r, bf_redis_request *g, size_t n, bf_redis_outcome *a)
{
    const bool change = changes(g, n) != NULL, wait = change && r->wait_replicas;
    bf_conn_begin(r->conn, change ? BF_WRITES : BF_READS);
    for (size_t i = 0; i < n; i++) {
        if (!g[i].pending) continue;
        bf_redis_select(g[i].of);
        (done_by(g + i) ? append_changes : bf_redis_append_tests)(g + i);
    }
    if (wait) bf_redis_append_wait(r);
    int rc = bf_conn_exchange(r->conn, a->err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (!g[i].pending) continue;
        bf_redis_select(g[i].of);
        g[i].mark = 0;
        a->looks = !done_by(g + i);
        rc = (a->looks ? bf_redis_take_tests : take_changes)(g + i, a);
    }
    return rc == 0 && wait ? take_wait(r, a) : rc;
}

/* Sends the pending requests in one round trip. If all keys of a round trip must be in one slot
 * (one_slot), sends one round trip per shard. */
static int send_pending(bf_redis *r, bf_redis_request *g, size_t n, bf_redis_outcome *a)
{
    const size_t step = r->conn->one_slot && r->shard ? 1 : n;
    int rc = 0;
    *a = (bf_redis_outcome){ .err = a->err, .replicas = a->replicas };
    for (size_t i = 0; rc == 0 && !a->refused && i < n; i += step)
        if (step > 1 || g[i].pending) rc = round_trip(r, g + i, step, a);
    return rc;
}

/* ---- checks of the marks ---- */
/* Checks the mark that the request read. If the bits were replaced, sets g->pending and *pending:
 * the request must be sent again. */
static int check_request(bf_redis_request *g, bool *pending, bf_error *err)
{
    if (!g->pending) return 0;
    bf_redis_select(g->of);
    int rc = bf_redis_check_generation(g->of, g->mark, &g->pending, err);
    *pending |= g->pending;
    return rc;
}

/* Checks the marks of all requests. Sets *pending if a request must be sent again. On entry,
 * *pending is true if the server refused the tests (it has no BITFIELD_RO). */
static int check_marks(bf_redis_request *g, size_t n, bool *pending, bf_error *err)
{
    const bool unanswered = *pending;
    int rc = 0;
    *pending = false;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (unanswered && !done_by(g + i))
            *pending |= g[i].pending;
        else
            rc = check_request(g + i, pending, err);
    return rc;
}

int bf_redis_fail_unknown_outcome(bf_redis *r, const char *done, bf_error *err)
{
    char what[48];
    /* with shards, the label of the shard that was used last */
    const char *label = r->shard ? r->conn->label : r->label;
    if (!err || err->code != BF_EIO) return err ? err->code : BF_EIO;
    snprintf(what, sizeof what, "tell what was %s: no reply from", done);
    if (err->sys_errno) return bf_fail_sys(err, err->sys_errno, what, label);
    if (r->conn->socket)
        return bf_fail(err, BF_EIO, "%s: cannot tell what was %s: unexpected reply", label, done);
    const bf_error said = *err; /* the error of the host's client */
    return bf_fail(err, BF_EIO, "cannot tell what was %s: %.130s", done, said.msg);
}

/* ---- a batch ---- */
/* If the server has no BITFIELD_RO, only the tests are sent again. The changes before them are
 * done. */
int bf_redis_send_requests(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err)
{
    const char *const done = changes(g, n);
    bf_redis_outcome a = { .err = err, .replicas = -1 };
    bool pending = true;
    for (int tries = 0; pending && tries < BF_REDIS_TRIES; tries++) {
        const char *change = changes(g, n);
        int rc = send_pending(r, g, n, &a);
        if (rc < 0)
            return change && (r->conn->sent || r->conn->one_slot || tries)
                       ? bf_redis_fail_unknown_outcome(r, change, err)
                       : rc;
        const bool unanswered = pending = a.unknown && !r->conn->no_bitfield_ro;
        if (pending)
            r->conn->no_bitfield_ro = true;
        else if (a.refused)
            return a.refused;
        if (bf_redis_marked(r) && (rc = check_marks(g, n, &pending, err)) < 0) return rc;
        if (pending && !unanswered && r->desc.kind) return 1;
    }
    if (pending) return bf_fail(err, BF_EIO, "%s is re-created too often: no reply", r->label);
    return done ? bf_redis_check_replicas(r, done, a.replicas, err) : 0;
}

/* ---- a batch of a filter, sorted by shards ---- */
/* Sends one request per shard, with the keys that are not in the cache. Keys keep their order: if a
 * batch has the same key twice, only the first one is new. */
static int apply_sorted(const bf_redis_request *all, bf_error *err)
{
    bf_redis *r = all->of;
    const size_t s = r->shards, nkeys = all->nkeys, positions = nkeys * all->k;
    const unsigned k = all->k;
    const uint64_t cells = bf_redis_cells(r);
    const bool counting = r->desc.g.counting, waits = r->wait_replicas;
    const double now = r->caches ? bf_redis_cache_now() : 0;
    char *room = bf_redis_room(&r->room, positions * sizeof *all->pos +
                                             s * (sizeof(bf_redis_request) + sizeof(size_t)) +
                                             nkeys * (sizeof(uint32_t) + 1));
    if (!room) return bf_fail(err, BF_ENOMEM, "out of memory");
    uint64_t *sorted = (uint64_t *)(void *)room;
    bf_redis_request *g = (bf_redis_request *)(void *)(sorted + positions);
    size_t *next = (size_t *)(void *)(g + s), n = 0, at = 0;
    uint32_t *from = (uint32_t *)(void *)(next + s);
    uint8_t *answer = (uint8_t *)(from + nkeys);
    memset(next, 0, s * sizeof *next);
    for (size_t i = 0; i < nkeys; i++) {
        const uint64_t *pos = all->pos + i * k, shard = s > 1 ? *pos / cells : 0;
        bf_redis *one = r->shard ? r->shard + shard : r;
        for (unsigned j = 0; r->caches && shard && j < k; j++) sorted[j] = pos[j] - shard * cells;
        /* The cache answers tests and adds of bits. With wait_replicas all adds are sent, because
         * the replicas may not have the bits of the cache. */
        const bool answers = all->op == BF_OP_TEST || (all->op == BF_OP_ADD && !counting && !waits);
        const uint64_t *here = shard ? sorted : pos;
        all->present[i] = r->caches && bf_redis_cache_knows(one, here, k, now) && answers;
        if (r->caches && all->op == BF_OP_REMOVE) bf_redis_cache_unlearn(one, here, k);
        next[shard] += !all->present[i];
    }
    for (size_t i = 0; i < s; i++) {
        const size_t c = next[i];
        next[i] = at;
        if (c) {
            g[n] = *all;
            g[n].of = r->shard ? r->shard + i : r;
            g[n].pos = sorted + at * k;
            g[n].nkeys = c;
            g[n++].present = answer + at;
        }
        at += c;
    }
    for (size_t i = 0; i < nkeys; i++) {
        if (all->present[i]) continue;
        const uint64_t shard = s > 1 ? all->pos[i * k] / cells : 0;
        const size_t to = next[shard]++;
        from[to] = (uint32_t)i;
        for (unsigned j = 0; j < k; j++) sorted[to * k + j] = all->pos[i * k + j] - shard * cells;
    }
    const int rc = n ? bf_redis_send_requests(r, g, n, err) : 0;
    for (size_t i = 0; i < at; i++) all->present[from[i]] = answer[i];
    for (size_t i = 0; rc == 0 && all->op != BF_OP_REMOVE && i < n; i++)
        bf_redis_cache_learn(g + i, now);
    if (rc < 0) bf_redis_cache_forget(r);
    return rc;
}

int bf_redis_apply(const bf_redis_request *g, bf_error *err)
{
    bf_redis_request one = *g;
    return g->of->shard || g->of->caches ? apply_sorted(g, err)
                                         : bf_redis_send_requests(g->of, &one, 1, err);
}

/* ---- adding the counters of a filter in memory ---- */
/* Collects up to SUMS counters above 0, from counter *at on. Sets *at to the next counter. */
static size_t gather(const uint64_t *words, uint64_t m, uint64_t *at, uint64_t *pos, uint8_t *by)
{
    size_t n = 0;
    for (; n < SUMS && *at < m; ++*at) {
        if (*at % 16 == 0 && !words[*at / 16]) {
            *at += 15;
            continue;
        }
        if (!(by[n] = (uint8_t)bf_cell(words, *at))) continue;
        pos[n++] = *at;
    }
    return n;
}

/* Each round trip is one script, so it is atomic. */
int bf_redis_count_unite(bf_redis *r, const void *words, bf_error *err)
{
    uint64_t pos[SUMS], at = 0;
    uint8_t by[SUMS + 1], present;
    int rc = 0;
    for (size_t n; rc == 0 && (n = gather(words, bf_redis_cells(r), &at, pos, by));) {
        bf_redis_request g = { .of = r,
            .op = BF_OP_ADD,
            .pos = pos,
            .by = by,
            .nkeys = 1,
            .k = (unsigned)n,
            .present = &present,
            .pending = true };
        rc = bf_redis_send_requests(r, &g, 1, err);
    }
    return rc;
}
