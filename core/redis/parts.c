/* parts.c - a batch over all parts of a growing or forgetting filter, in one round trip.
 *
 *   ask   tests in every part, and may add to one part: one request of batch.c per part
 *   put   EVAL script K...   for at most KEYS_A_SCRIPT keys: adds a key to the newest part, unless
 *                            a part contains the key or the newest part is full; in a counting
 *                            filter also removes or counts keys
 *
 * The script of put changes nothing unless all parts have the known marks and K:meta has the known
 * id. So no key is added to a lost part, to a part that has a successor, or to a filter that has
 * lost K:meta. */
#include "parts/parts.h"
#include "redis/redis.h"

enum { POSITIONS = 1 << 18, KEYS_A_SCRIPT = 100, SCRIPT_POSITIONS = 12000 };

enum { PLACE = 11 }; /* bytes per position in the argument of bf_script_put */

/* ---- the keys of a span, with their positions in every part ---- */
typedef struct {
    bf_part *const *part;
    unsigned n, k;
    size_t nkeys;  /* number of keys to send */
    size_t most;   /* number of keys for which pos has space */
    uint64_t *pos; /* positions in part i start at i * most * k */
    bf_redis_request *g;
    uint16_t *from; /* for each key, its index in the span */
    uint8_t *present;
    bf_span *span;
    bool moved; /* a script found another mark */
    double at;  /* bf_redis_cache_now() */
} batch;

static uint64_t *pos_of(const batch *b, unsigned part, size_t key)
{
    return b->pos + (part * b->most + key) * b->k;
}

/* Computes the positions of `most` keys of the span in every part. Leaves out keys that the caches
 * of the first `known_parts` parts contain; these keys are present. */
static int prepare_batch(
    bf_filter *f, batch *b, size_t first, size_t most, unsigned known_parts, bf_error *err)
{
    const size_t few = BF_POSITIONS / b->k, positions = b->n * most * b->k;
    char *room = bf_redis_room(&bf_redis_whole(f)->room,
        positions * sizeof *b->pos + b->n * sizeof *b->g + most * (sizeof *b->from + b->n));
    if (!room) return bf_fail(err, BF_ENOMEM, "out of memory");
    b->most = most;
    b->pos = (uint64_t *)(void *)room;
    b->g = (bf_redis_request *)(void *)(b->pos + positions);
    b->from = (uint16_t *)(void *)(b->g + b->n);
    b->present = (uint8_t *)(b->from + most);
    b->at = bf_redis_whole(f)->caches ? bf_redis_cache_now() : 0;
    b->nkeys = 0;
    for (unsigned i = 0; i < b->n; i++)
        for (size_t at = 0, c; at < most; at += c) {
            c = most - at < few ? most - at : few;
            f->desc.scheme->layout->positions(
                &b->part[i]->bitmap.g, b->span->d + first + at, c, pos_of(b, i, at));
        }
    for (size_t i = 0; i < most; i++) {
        bool has = false;
        for (unsigned j = 0; !has && j < known_parts; j++)
            has = bf_redis_cache_knows(bf_redis_of(b->part[j]), pos_of(b, j, i), b->k, b->at);
        if (has) b->span->present[first + i] = 1;
        if (has) continue;
        for (unsigned j = 0; b->nkeys < i && j < b->n; j++)
            memcpy(pos_of(b, j, b->nkeys), pos_of(b, j, i), b->k * sizeof *b->pos);
        b->from[b->nkeys++] = (uint16_t)(first + i);
    }
    return 0;
}

static void make_requests(batch *b, int first_op)
{
    for (unsigned i = 0; i < b->n; i++)
        b->g[i] = (bf_redis_request){ .of = bf_redis_of(b->part[i]),
            .op = i == 0 ? first_op : BF_OP_TEST,
            .pos = pos_of(b, i, 0),
            .nkeys = b->nkeys,
            .k = b->k,
            .present = b->present + i * b->most,
            .pending = true };
}

/* Returns the number of keys of the span in the next round trip. */
static size_t keys_per_trip(const batch *b, size_t left)
{
    const size_t most = POSITIONS / b->n / b->k;
    return most < 1 ? 1 : left < most ? left : most;
}

/* Locks the connection and returns the filter. If `doubt` is still set, a call that neither adds
 * nor tests has returned the error for the loss. So the loss counts as reported. */
static bf_redis *lock_filter(bf_filter *f, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    if (!bf_redis_lock(whole, err)) return NULL;
    if (whole->doubt) bf_flag_set(&whole->loss_reported);
    whole->doubt = false;
    return whole;
}

/* After a successful round trip, a later loss is reported again. */
static void unlock_filter(bf_redis *whole, int rc)
{
    if (rc == 0 && bf_flag_get(&whole->loss_reported)) bf_flag_clear(&whole->loss_reported);
    bf_conn_unlock(whole->conn);
}

int bf_redis_parts_explain(bf_filter *f, int rc, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    const uint32_t id = whole->filter_id;
    {
        BF_REDIS_LOCK(whole);
        if (!whole->doubt) return rc;
        whole->doubt = false;
    }
    const int more = bf_parts_refresh(f, err);
    return more < 0 ? more : whole->filter_id != id ? 0 : rc;
}

/* ---- ask: tests, and adds to one part ---- */
static int ask_trip(bf_filter *f, batch *b, bool add, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    make_requests(b, add ? BF_OP_ADD : BF_OP_TEST);
    int rc = bf_redis_send_requests(whole, b->g, b->n, err);
    for (unsigned i = 0; i < b->n; i++) {
        const bf_redis_request *g = b->g + i;
        if (rc < 0)
            bf_redis_cache_forget(g->of);
        else
            bf_redis_cache_learn(g, b->at);
        for (size_t j = 0; rc == 0 && j < b->nkeys; j++) {
            b->span->present[b->from[j]] |= g->present[j];
            if (g->op == BF_OP_ADD) g->of->added += !g->present[j];
        }
    }
    return rc;
}

int64_t bf_redis_parts_ask(
    bf_filter *f, bf_part *const *parts, unsigned n, bool add, bf_span *s, bf_error *err)
{
    bf_redis *whole = lock_filter(f, err);
    bf_part *newest_first[BF_PARTS_MAX];
    batch b = { .part = add ? parts : newest_first, .n = n, .k = parts[0]->bitmap.g.k, .span = s };
    const unsigned known_parts = !whole->caches ? 0 : !add ? n : whole->wait_replicas ? 0 : 1;
    int64_t hits = 0;
    int rc = 0;
    if (!whole) return BF_EIO;
    memset(s->present, 0, s->n);
    for (unsigned i = 0; !add && i < n; i++) newest_first[i] = parts[n - 1 - i];
    for (size_t at = 0, c; rc == 0 && at < s->n; at += c) {
        c = keys_per_trip(&b, s->n - at);
        rc = prepare_batch(f, &b, at, c, known_parts, err);
        if (rc == 0 && b.nkeys) rc = ask_trip(f, &b, add, err);
    }
    unlock_filter(whole, rc);
    if (rc < 0) return rc;
    for (size_t i = 0; i < s->n; i++) hits += s->present[i];
    return hits;
}

/* ---- put: adds to the newest part; in a counting filter also removes and counts ---- */
static const char *const ops[] = {
    [BF_OP_ADD] = "add", [BF_OP_REMOVE] = "remove", [BF_OP_COUNT] = "count"
};
static const char *const done[] = { [BF_OP_ADD] = "added", [BF_OP_REMOVE] = "removed" };

/* Writes the positions of a key; in a counting filter, each position once. */
static void put_positions(const bf_filter *f, char *at, const uint64_t *pos, unsigned k)
{
    uint64_t own[BF_K_MAX];
    memcpy(own, pos, k * sizeof *own);
    if (f->desc.g.counting) k = bf_counters_distinct(own, k);
    for (unsigned j = 0; j < k; j++, at += PLACE) bf_redis_digits(at, own[j]);
}

static void append_put_script(
    const bf_filter *f, const batch *b, size_t first, size_t c, uint64_t most)
{
    bf_conn *l = bf_redis_whole(f)->conn;
    const int64_t have = bf_live(b->part[b->n - 1]->live);
    bf_conn_new_request(l);
    bf_conn_route(l, bf_redis_whole(f)->key);
    bf_conn_eval(l, f->desc.g.counting ? bf_script_count : bf_script_put, b->n + 2);
    bf_conn_expect(l, c + b->n + 1, 0);
    for (unsigned i = 0; i < b->n; i++) bf_conn_append(l, "%s", bf_redis_of(b->part[i])->key);
    bf_conn_append(l, "%s %s %n %n %n %x", bf_redis_of(b->part[b->n - 1])->meta,
        bf_redis_whole(f)->meta, (uint64_t)b->k, most, (uint64_t)(have < 0 ? 0 : have),
        bf_redis_whole(f)->filter_id);
    for (unsigned i = 0; i < b->n; i++) {
        const bf_redis *r = bf_redis_of(b->part[i]);
        bf_conn_append(l, "%n %r", r->mark_at, r->mark);
        const uint64_t *pos = pos_of(b, i, first), *end = pos + c * b->k;
        const size_t len = c * b->k * PLACE;
        char *at = bf_conn_begin_arg(l, len);
        if (!at) return;
        memset(at, 0, len);
        for (; pos < end; pos += b->k, at += PLACE * b->k) put_positions(f, at, pos, b->k);
        bf_conn_end_arg(l, len);
    }
    if (f->desc.g.counting) bf_conn_append(l, "%s", ops[b->span->op]);
}

static size_t keys_per_script(const batch *b, size_t first)
{
    size_t c = SCRIPT_POSITIONS / b->n / b->k;
    c = c < 1 ? 1 : c > KEYS_A_SCRIPT ? KEYS_A_SCRIPT : c;
    return b->nkeys - first < c ? b->nkeys - first : c;
}

/* Reads the reply to the script with the c keys from `first` on. */
static int take_put(bf_filter *f, batch *b, size_t first, size_t c, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f), *newest = bf_redis_of(b->part[b->n - 1]);
    const bf_redis_reply *reply = &whole->conn->reply;
    uint8_t yes = 1;
    long long v = -2;
    const bool other = bf_reply_integer(reply, 0, &v) && v == -1;
    if (v == -3 && reply->n == 1) {
        whole->doubt = true;
        return bf_redis_fail_lost(whole, err);
    }
    if (v < -1 || reply->n != (other ? b->n : c) + 1) return bf_redis_fail_protocol(whole, err);
    b->moved |= other;
    for (unsigned i = 0; other && i < b->n; i++) {
        if (!bf_reply_integer(reply, i + 1, &v) || v < 0 || v > UINT32_MAX)
            return bf_redis_fail_protocol(whole, err);
        b->g[i].mark = (uint32_t)v;
    }
    if (other) return 0;
    bf_live_set(b->part[b->n - 1]->live, v);
    for (size_t j = 0; j < c; j++) {
        if (!bf_reply_integer(reply, j + 1, &v) || v < -2 || v == -1 ||
            v > (b->span->op == BF_OP_COUNT ? BF_CELL_MAX : (int)b->n))
            return bf_redis_fail_protocol(whole, err);
        if (v < 0) continue;
        const int op = b->span->op;
        const uint8_t answer = op == BF_OP_COUNT ? (uint8_t)v : (op == BF_OP_REMOVE) == (v > 0);
        b->span->present[b->from[first + j]] = answer + 1;
        if (op != BF_OP_ADD) continue;
        newest->added += v == 0;
        const unsigned part = v ? (unsigned)v - 1 : b->n - 1;
        const bf_redis_request had = { .of = bf_redis_of(b->part[part]),
            .op = BF_OP_TEST,
            .pos = pos_of(b, part, first + j),
            .nkeys = 1,
            .k = b->k,
            .present = &yes };
        bf_redis_cache_learn(&had, b->at);
    }
    return 0;
}

static int put_trip(bf_filter *f, batch *b, uint64_t most, bf_error *err)
{
    bf_redis *r = bf_redis_whole(f);
    long long have = 0;
    const bool changes = b->span->op != BF_OP_COUNT;
    bf_conn_begin(r->conn, changes ? BF_WRITES : BF_READS);
    for (size_t at = 0, c; at < b->nkeys; at += c) {
        c = keys_per_script(b, at);
        append_put_script(f, b, at, c, most);
    }
    if (changes) bf_redis_append_wait(r);
    int rc = bf_conn_finish(r->conn, err);
    for (size_t at = 0, c; rc == 0 && at < b->nkeys; at += c) {
        c = keys_per_script(b, at);
        bf_conn_next(r->conn);
        rc = take_put(f, b, at, c, err);
    }
    if (rc < 0 || !changes || !r->wait_replicas) return rc;
    bf_conn_next(r->conn);
    if (!bf_reply_integer(&r->conn->reply, 0, &have)) return bf_redis_fail_protocol(r, err);
    return bf_redis_check_replicas(r, done[b->span->op], have, err);
}

/* Removes the keys of a remove from the caches, whatever the result will be. */
static void forget_removed(const batch *b)
{
    for (unsigned i = 0; b->span->op == BF_OP_REMOVE && i < b->n; i++)
        for (size_t j = 0; j < b->nkeys; j++)
            bf_redis_cache_unlearn(bf_redis_of(b->part[i]), pos_of(b, i, j), b->k);
}

/* Reads the parts' new marks after a script found another mark. Error: a part is lost. */
static int check_marks_of_parts(const batch *b, bf_error *err)
{
    int rc = 0;
    for (unsigned i = b->n; rc == 0 && i-- > 0;) {
        bf_redis *r = bf_redis_of(b->part[i]);
        bool changed = false;
        bf_redis_select(r);
        rc = bf_redis_check_generation(r, b->g[i].mark, &changed, err);
        if (rc == 0 && changed) bf_live_set(b->part[i]->live, (int64_t)r->keys);
    }
    return rc;
}

int bf_redis_parts_put(
    bf_filter *f, bf_part *const *parts, unsigned n, uint64_t most, bf_span *s, bf_error *err)
{
    batch b = { .part = parts, .n = n, .k = parts[0]->bitmap.g.k, .span = s };
    bf_redis *whole = lock_filter(f, err);
    if (!whole) return BF_EIO;
    memset(s->present, 0, s->n);
    const size_t c = keys_per_trip(&b, s->n); /* the caller sends the other keys in a later call */
    const bool may_know = whole->caches && !whole->wait_replicas && !f->desc.g.counting;
    int rc = prepare_batch(f, &b, 0, c, may_know ? n : 0, err);
    if (rc == 0 && b.nkeys) {
        forget_removed(&b);
        rc = put_trip(f, &b, most, err);
        for (unsigned i = 0; rc < 0 && i < n; i++) bf_redis_cache_forget(bf_redis_of(parts[i]));
        if (rc < 0 && s->op != BF_OP_COUNT && whole->conn->sent && !whole->conn->healthy)
            rc = bf_redis_fail_unknown_outcome(whole, done[s->op], err);
        else if (rc == 0 && b.moved)
            rc = check_marks_of_parts(&b, err);
    }
    unlock_filter(whole, rc);
    if (rc == 0) bf_span_drop_decided(s, 0);
    return rc;
}
