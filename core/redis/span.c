/* span.c - keys in all parts of a growing or forgetting filter in Redis. All parts are in one
 * string, so one round trip reads all parts, and the mark after them.
 *
 *   test      one request of batch.c about every key in every part
 *   put       EVAL script ... for at most KEYS_A_SCRIPT keys of a growing filter: adds a key to the
 *             newest part, unless a part contains the key or the newest part is full; in a counting
 *             filter also removes or counts keys
 *   remember  EVAL script ... for at most KEYS_A_SCRIPT keys of a forgetting filter: adds them to
 *             the slice of the present epoch
 *
 * A step that meets another mark changes nothing in the string. Then bf_redis_check_generation
 * finds out what has happened, and the step is repeated for the keys that have no answer yet. */
#include "parts/parts.h"
#include "redis/redis.h"

/* TRIES: maximum number of steps in which no key gets an answer */
enum { POSITIONS = 1 << 18, KEYS_A_SCRIPT = 100, SCRIPT_POSITIONS = 12000, TRIES = 100 };
enum { PLACE = 11 }; /* bytes per position in the argument of a script */

/* ---- the keys of a span, with their positions in the string ---- */
typedef struct {
    bf_filter *f;
    bf_redis *r;
    bf_span *span;
    double clock; /* the time of the handle's clock */
    unsigned parts, k;
    size_t nkeys;   /* number of keys to send */
    uint64_t *pos;  /* for each key, for each part, k positions */
    uint16_t *from; /* for each key, its index in the span */
    uint8_t *present;
    double cache_now; /* bf_redis_cache_now() */
} batch;

static uint64_t *pos_of(const batch *b, size_t key, unsigned part)
{
    return b->pos + (key * b->parts + part) * b->k;
}

static bool is_living(const batch *b, unsigned part, int64_t now)
{
    return !b->f->variant->forgets || bf_window_is_living(b->f, b->f->part[part], now);
}

/* Returns true if the cache answers key number `key`. It does not know the epoch of an add to a
 * forgetting filter, and the replicas may not have the bits of the cache. */
static bool is_known(const batch *b, size_t key)
{
    const bf_redis *r = b->r;
    const int op = b->span->op;
    bool known = false;
    if (!r->cache || op > BF_OP_ADD ||
        (op == BF_OP_ADD && (r->wait_replicas || b->f->variant->forgets)))
        return false;
    for (unsigned i = 0; !known && i < b->parts; i++)
        known = is_living(b, i, r->now) &&
                bf_redis_cache_knows(b->r, pos_of(b, key, i), b->k, b->cache_now);
    return known;
}

/* Computes the positions of n keys of the span, and leaves out keys that the cache answers. */
static void add_positions(batch *b, size_t first, size_t n)
{
    uint64_t pos[BF_POSITIONS];
    bf_filter *f = b->f;
    const size_t before = b->nkeys;
    const uint64_t *d = b->span->d + first * b->span->width;
    for (unsigned i = 0; i < b->parts; i++) {
        const bf_part *p = f->part[i];
        const unsigned k = p->bitmap.g.k;
        if (i == 0 || f->variant->grows) f->desc.scheme->layout->positions(&p->bitmap.g, d, n, pos);
        /* a part with a smaller k repeats its last position */
        for (size_t key = 0; key < n; key++)
            for (unsigned j = 0; j < b->k; j++)
                pos_of(b, before + key, i)[j] = pos[key * k + (j < k ? j : k - 1)] + p->start;
    }
    for (size_t key = 0; key < n; key++) {
        if (is_known(b, before + key)) {
            b->span->present[first + key] = 1 + (b->span->op == BF_OP_TEST);
            continue;
        }
        if (b->nkeys < before + key)
            memcpy(pos_of(b, b->nkeys, 0), pos_of(b, before + key, 0),
                (size_t)b->parts * b->k * sizeof *b->pos);
        b->from[b->nkeys++] = (uint16_t)(first + key);
    }
}

/* Returns true if a call that needs no parts, such as bf_expire, has read newer ones. */
static bool has_old_parts(const batch *b)
{
    const bf_filter *f = b->f;
    return f->count != b->r->sizes->n || (f->variant->forgets && bf_live(f->epoch) != b->r->epoch);
}

/* Prepares the first keys of the span, as many as fit in one round trip. */
static int prepare(batch *b, bf_error *err)
{
    const bf_span *s = b->span;
    size_t few, most;
    if (bf_redis_has_clock(b->f, err) < 0) return BF_EINVAL;
    if (has_old_parts(b) && bf_redis_take_parts(b->f, err) < 0) return BF_ENOMEM;
    b->parts = b->r->sizes->n;
    b->k = b->f->part[b->parts - 1]->bitmap.g.k; /* the largest */
    few = BF_POSITIONS / b->k;
    most = POSITIONS / b->parts / b->k;
    most = most < 1 ? 1 : s->n < most ? s->n : most;
    few = few < BF_CHUNK ? few : BF_CHUNK;
    char *room = bf_redis_room(
        &b->r->room, most * b->parts * b->k * sizeof *b->pos + most * (sizeof *b->from + b->parts));
    if (!room) return bf_fail(err, BF_ENOMEM, "out of memory");
    b->pos = (uint64_t *)(void *)room;
    b->from = (uint16_t *)(void *)(b->pos + most * b->parts * b->k);
    b->present = (uint8_t *)(b->from + most);
    b->cache_now = b->r->caches ? bf_redis_cache_now() : 0;
    b->nkeys = 0;
    for (size_t at = 0; at < most; at += few)
        add_positions(b, at, most - at < few ? most - at : few);
    return 0;
}

/* Returns the index of the slice of the newest epoch. */
static unsigned slice_of(const batch *b)
{
    const int64_t at = b->r->epoch % b->parts;
    return (unsigned)(at < 0 ? at + b->parts : at);
}

/* Stores that this key has its bits set in this part. */
static void learn(const batch *b, size_t key, unsigned part)
{
    uint8_t yes = 1;
    const bf_redis_request had = { .of = b->r,
        .op = BF_OP_TEST,
        .pos = pos_of(b, key, part),
        .nkeys = 1,
        .k = b->k,
        .present = &yes };
    bf_redis_cache_learn(&had, b->cache_now);
}

/* ---- tests ---- */
/* Returns 0; 1 if the parts or the epoch have changed, so the keys must be tested again; or an
 * error. */
static int test(batch *b, bf_error *err)
{
    bf_redis *r = b->r;
    int64_t now = 0;
    bf_redis_request g = { .of = r,
        .op = BF_OP_TEST,
        .pos = b->pos,
        .nkeys = b->nkeys * b->parts,
        .k = b->k,
        .present = b->present,
        .pending = true };
    int rc = bf_redis_send_requests(r, &g, 1, err);
    if (rc != 0) return rc;
    if (b->f->variant->forgets) {
        double time = b->clock;
        if ((rc = bf_redis_choose_time(b->f, g.time, &time, err)) < 0 ||
            (rc = bf_window_epoch_at(b->f, time, &now, err)) < 0)
            return rc;
        if (r->epoch > now) now = r->epoch;
        r->now = now;
    }
    bf_redis_cache_learn(&g, b->cache_now);
    for (size_t key = 0; key < b->nkeys; key++) {
        bool has = false;
        for (unsigned i = 0; !has && i < b->parts; i++)
            has = b->present[key * b->parts + i] && is_living(b, i, now);
        b->span->present[b->from[key]] = 1 + has;
    }
    return 0;
}

/* ---- scripts ---- */
static const char *const done[] = { [BF_OP_ADD] = "added", [BF_OP_REMOVE] = "removed" };

/* Appends the positions of c keys as one argument: decimal, with NULs. A repeated position of a
 * counter is empty. parts: how many parts of each key. */
static void append_positions(const batch *b, size_t first, size_t c, unsigned parts)
{
    uint64_t own[BF_K_MAX];
    const size_t len = c * parts * b->k * PLACE;
    char *at = bf_conn_begin_arg(b->r->conn, len);
    if (!at) return;
    memset(at, 0, len);
    for (size_t key = first; key < first + c; key++)
        for (unsigned i = 0; i < parts; i++, at += (size_t)b->k * PLACE) {
            unsigned n = b->k;
            memcpy(own, pos_of(b, key, i), n * sizeof *own);
            if (b->r->desc.g.counting) n = bf_counters_distinct(own, n);
            for (unsigned j = 0; j < n; j++) bf_redis_digits(at + (size_t)j * PLACE, own[j]);
        }
    bf_conn_end_arg(b->r->conn, len);
}

static void append_put(const batch *b, size_t first, size_t c)
{
    static const char *const ops[] = {
        [BF_OP_ADD] = "add", [BF_OP_REMOVE] = "remove", [BF_OP_COUNT] = "count"
    };
    const bf_redis *r = b->r;
    const bf_part *newest = b->f->part[b->parts - 1];
    const uint64_t n = newest->bitmap.g.n,
                   most = bf_flag_get(&b->f->at_limit) ? n + BF_N_MAX / 4 : n;
    bf_conn_eval(r->conn, r->desc.g.counting ? bf_script_count : bf_script_put, 2);
    bf_conn_append(r->conn, "%s %s %n %r %x %n %n %n %n", r->key, r->meta, r->mark_at, r->mark,
        r->mark, (uint64_t)b->parts, (uint64_t)b->k, most, (uint64_t)bf_live(newest->live));
    append_positions(b, first, c, b->parts);
    if (r->desc.g.counting) bf_conn_append(r->conn, "%s", ops[b->span->op]);
}

static void append_remember(const batch *b, size_t first, size_t c)
{
    const bf_redis *r = b->r;
    const uint32_t mark = bf_random();
    bf_conn_eval(r->conn, bf_script_remember, 2);
    bf_conn_append(r->conn, "%s %s %n %x %r %x %g %n %n", r->key, r->meta, r->mark_at, r->filter_id,
        mark, mark, bf_window_step(b->f), (uint64_t)b->parts, r->sizes->part[0].m);
    if (b->f->own_clock)
        bf_conn_append(r->conn, "%g", b->clock);
    else
        bf_conn_append(r->conn, "%s", "");
    bf_conn_append(r->conn, "%s %n", r->users_clock && b->f->own_clock ? "1" : "", (uint64_t)b->k);
    append_positions(b, first, c, 1);
}

static size_t keys_per_script(const batch *b, size_t first)
{
    const unsigned parts = b->f->variant->grows ? b->parts : 1;
    size_t c = SCRIPT_POSITIONS / parts / b->k;
    c = c < 1 ? 1 : c > KEYS_A_SCRIPT ? KEYS_A_SCRIPT : c;
    return b->nkeys - first < c ? b->nkeys - first : c;
}

/* The result of the scripts of a round trip. */
typedef struct {
    bool moved; /* a script found another mark */
    bool full;  /* the newest part has no room for a key */
} outcome;

/* Reads the answers for c keys, which begin at leaf `leaf`. */
static int take_answers(batch *b, size_t first, size_t c, size_t leaf, outcome *o, bf_error *err)
{
    const bf_redis_reply *reply = &b->r->conn->reply;
    const int op = b->span->op;
    const bool grows = b->f->variant->grows;
    const long long most = op == BF_OP_COUNT ? BF_CELL_MAX : grows ? b->parts : 1;
    long long v;
    for (size_t j = 0; j < c; j++) {
        if (!bf_reply_integer(reply, leaf + j, &v) || v < (grows ? -2 : 0) || v == -1 || v > most)
            return bf_redis_fail_protocol(b->r, err);
        o->full |= v == -2;
        if (v == -2) continue;
        b->span->present[b->from[first + j]] =
            1 + (op == BF_OP_COUNT ? (uint8_t)v : (op == BF_OP_REMOVE) == (v > 0));
        if (op != BF_OP_ADD) continue;
        b->r->added += v == 0;
        learn(b, first + j, !grows ? slice_of(b) : v ? (unsigned)v - 1 : b->parts - 1);
    }
    return 0;
}

static int take_put(batch *b, size_t first, size_t c, outcome *o, bf_error *err)
{
    const bf_redis_reply *reply = &b->r->conn->reply;
    long long keys = -2;
    const bool other = bf_reply_integer(reply, 0, &keys) && keys == -1;
    o->moved |= other;
    if (other) return 0;
    if (keys < 0 || reply->n != c + 1) return bf_redis_fail_protocol(b->r, err);
    b->r->sizes->part[b->parts - 1].keys = (uint64_t)keys;
    bf_live_set(b->f->part[b->parts - 1]->live, keys);
    return take_answers(b, first, c, 1, o, err);
}

static int take_remember(batch *b, size_t first, size_t c, outcome *o, bf_error *err)
{
    const bf_redis_reply *reply = &b->r->conn->reply;
    long long mark = -2, epoch = 0, more = 0;
    const bool sound = bf_reply_integer(reply, 0, &mark);
    o->moved |= sound && mark == -1;
    if (sound && mark == -1) return 0;
    if (mark == -4 && bf_reply_integer(reply, 1, &epoch) && bf_reply_integer(reply, 2, &more))
        return bf_redis_fail_clock(b->f, b->clock, (double)epoch + (double)more / 1e6, err);
    if (mark <= 0 || mark > UINT32_MAX || reply->n != c + 2 ||
        !bf_reply_integer(reply, 1, &epoch) || epoch <= BF_NEVER / 2 || epoch >= -BF_NEVER / 2)
        return bf_redis_fail_protocol(b->r, err);
    if (epoch >= b->r->epoch) { /* else after a failover: the mark makes the next test look */
        b->r->mark = (uint32_t)mark;
        b->r->epoch = b->r->now = epoch;
    }
    return take_answers(b, first, c, 2, o, err);
}

static int send_scripts(batch *b, outcome *o, bf_error *err)
{
    bf_redis *r = b->r;
    bf_conn *l = r->conn;
    const bool changes = b->span->op != BF_OP_COUNT, grows = b->f->variant->grows;
    long long have = 0;
    size_t at = 0, c;
    bf_conn_begin(l, changes ? BF_WRITES : BF_READS);
    do {
        c = keys_per_script(b, at);
        bf_conn_new_request(l);
        bf_conn_route(l, r->key);
        (grows ? append_put : append_remember)(b, at, c);
        bf_conn_expect(l, c + 2, 0);
    } while ((at += c) < b->nkeys);
    bf_conn_new_request(l);
    if (changes) bf_redis_append_wait(r);
    int rc = bf_conn_finish(l, err);
    for (at = 0; rc == 0; at += c) {
        c = keys_per_script(b, at);
        bf_conn_next(l);
        rc = (grows ? take_put : take_remember)(b, at, c, o, err);
        if (at + c >= b->nkeys) break;
    }
    if (rc < 0 || !changes || !r->wait_replicas) return rc;
    bf_conn_next(l);
    if (!bf_reply_integer(&l->reply, 0, &have)) return bf_redis_fail_protocol(r, err);
    return bf_redis_check_replicas(r, done[b->span->op], have, err);
}

/* ---- growing ---- */
/* Appends a part, unless another process has changed the filter first. Returns 0 or an error. */
static int append_part(bf_filter *f, const bf_params *part, bf_error *err)
{
    bf_redis *r = bf_redis_of(f);
    bf_redis_sizes *sizes = r->sizes;
    char text[BF_SIZE_TEXT];
    const bf_cell_ops *cells = bf_cell_ops_of(&r->desc.g);
    const uint64_t all = bf_redis_cells(r) + part->g.m, most = BF_REDIS_M_MAX / cells->bits;
    const uint32_t mark = bf_random();
    long long v = 0;
    bool changed;
    if (all > most)
        return bf_fail(err, BF_EFULL,
            "%.60s is full: its next part makes it m=%llu %s, and one Redis key holds %llu: create "
            "one with a larger n, or a file",
            r->label, (unsigned long long)all, cells->names, (unsigned long long)most);
    const bf_redis_size size = { part->g.m, part->g.n, part->g.p, 0 };
    const uint64_t mark_at = r->mark_at + part->g.m * cells->bits / 8;
    bf_redis_size_text(&size, text);
    bf_conn_begin(r->conn, BF_WRITES);
    bf_conn_eval(r->conn, bf_script_append, 2);
    bf_conn_append(r->conn, "%s %s %n %r %x %n %r %x %n %s", r->key, r->meta, r->mark_at, r->mark,
        r->mark, mark_at, mark, mark, (uint64_t)sizes->n, text);
    int rc = bf_conn_run_script(r->conn, &v, err);
    if (rc == 0 && v != 1) rc = bf_redis_check_generation(r, 0, &changed, err);
    if (rc < 0 || v != 1) return rc;
    sizes->part[sizes->n++] = size;
    r->bits += part->g.m * cells->bits;
    r->mark_at = mark_at;
    r->mark = mark;
    return 0;
}

static int append(bf_filter *f, const bf_params *part, bf_error *err)
{
    BF_REDIS_LOCK(bf_redis_of(f));
    const int rc = append_part(f, part, err);
    return rc < 0 ? rc : bf_redis_take_parts(f, err);
}

/* Appends a part. Returns 1 if the bits or the parts have changed, 0 if more keys go to the newest
 * part, or an error. */
static int grow(batch *b, bf_error *err)
{
    const unsigned parts = b->r->sizes->n;
    const bool ignores = b->f->overfull == BF_OVERFULL_IGNORE;
    bf_params part;
    int rc = parts < BF_PARTS_MAX
                 ? bf_chain_part(&b->f->desc, parts, bf_redis_cells(b->r), &part, err)
                 : 0;
    if (rc == 0 && !ignores) return bf_refuse_full(b->f, err);
    if (rc > 0 && ((rc = append_part(b->f, &part, err)) != BF_EFULL || !ignores))
        return rc < 0 ? rc : 1;
    if (rc == 0 || rc == BF_EFULL) bf_flag_set(&b->f->at_limit);
    return rc == BF_EFULL ? 0 : rc;
}

/* ---- a batch ---- */
/* Returns 0; 1 if the parts or the epoch have changed; or an error. */
static int step(batch *b, bf_error *err)
{
    outcome o = { false, false };
    bf_redis *r = b->r;
    bool changed;
    if (b->span->op == BF_OP_TEST) return test(b, err);
    const int64_t epoch = r->epoch;
    int rc = send_scripts(b, &o, err);
    if (rc < 0 && b->span->op != BF_OP_COUNT && r->conn->sent && !r->conn->healthy)
        return bf_redis_fail_unknown_outcome(r, done[b->span->op], err);
    if (rc == 0 && o.moved)
        rc = bf_redis_check_generation(r, 0, &changed, err);
    else if (rc == 0 && o.full)
        rc = grow(b, err);
    return rc < 0 ? rc : o.moved || rc == 1 || r->epoch != epoch;
}

static int run_locked(batch *b, bf_error *err)
{
    bf_span *s = b->span;
    BF_REDIS_LOCK(b->r);
    int rc = 0, tries = 0;
    bool empty = s->n == 0; /* an add of no keys only begins a new epoch */
    while (rc >= 0 && (s->n || empty) && tries < TRIES) {
        const size_t had = s->n;
        memset(s->present, 0, s->n);
        if ((rc = prepare(b, err)) == 0 && (b->nkeys || empty)) rc = step(b, err);
        /* also after an error: the filter may have been re-created */
        if (rc != 0 && bf_redis_take_parts(b->f, rc < 0 ? NULL : err) < 0 && rc > 0) rc = BF_ENOMEM;
        if (rc == 0) empty = false;
        if (rc == BF_EFULL)
            for (size_t i = s->n; err && i-- > 0;)
                if (!s->present[i]) err->key = s->key[i];
        if (rc >= 0) bf_span_drop_decided(s, 0);
        tries = s->n < had ? 0 : tries + 1;
    }
    if (rc < 0)
        bf_redis_cache_forget(b->r);
    else
        b->r->loss_reported = false;
    if (rc < 0 || s->n == 0) return rc < 0 ? rc : 0;
    return bf_fail(err, BF_EIO,
        "%.80s: others changed its parts %d times during the call: not all keys were handled",
        b->r->label, TRIES);
}

/* Reads the clock before it takes the lock, because the clock may be host code. */
static int run(bf_filter *f, bf_span *s, bf_error *err)
{
    const bool forgets = f->variant->forgets;
    int64_t unused;
    batch b = { .f = f, .r = bf_redis_of(f), .span = s, .k = f->bitmap.g.k };
    if (forgets && f->own_clock) b.clock = f->clock(f->clock_ctx);
    int rc = forgets ? bf_window_epoch_at(f, b.clock, &unused, err) : 0;
    if (rc < 0 || (forgets && (rc = bf_lock(f, err)) < 0)) return rc;
    rc = run_locked(&b, err);
    if (forgets) bf_unlock(f);
    return rc;
}

const bf_chain_ops bf_chain_redis = {
    .append = append, .follow = bf_redis_follow, .run = run, .server_time = bf_redis_server_time
};
