/* store_redis.c - bits in a Redis string, by URL: opening, and a batch of positions as one trip.
 *
 *   add    BITFIELD K SET u1 p1 1 ... SET u1 pk 1          a key: Redis sets them at once and tells what was set before
 *   test   BITFIELD_RO K GET u1 p1 ...                     a key; where its bits lie in one line of 64 bytes or in two,
 *          GETRANGE K line                                 a line: half the cost
 *   mark   GET u32 in the last BITFIELD, or one more GETRANGE: the last thing every trip reads
 *
 * A lost key is an error, never "absent".  Tests that a fault of the connection ended are sent once more, adds never. */
#include "seams.h"
#ifdef BF_HAVE_HIREDIS
#include "bits.h"
#include "redis.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIP_KEYS = 1000, LINE = 64, STUB_TRIES = 5 };

/* ---- the mark ---- */
int bf_redis_lost(const bf_redis *r, bf_error *err)
{
    return bf_fail(err, BF_EIO, "%s is lost (deleted, expired, evicted or overwritten): create it again", r->link.label);
}

static int fetch_meta(bf_redis *r, bf_error *err)
{
    int rc = bf_link_begin(&r->link, true, err);
    if (rc < 0) return rc;
    bf_link_count(&r->link, 2);
    bf_link_word(&r->link, "HGETALL");
    bf_link_word(&r->link, r->meta);
    return bf_link_finish(&r->link, 1, err);
}

static bool same_shape(const bf_desc *a, const bf_desc *b)
{
    return !strcmp(a->name, b->name) && a->g.m == b->g.m && a->g.k == b->g.k && a->g.counting == b->g.counting && a->secret_check == b->secret_check;
}

int bf_redis_follow(bf_redis *r, uint32_t seen, bool *changed, bf_error *err)
{
    bf_desc d;
    uint32_t mark;
    *changed = false;
    if (seen == r->mark) return 0;
    int rc = fetch_meta(r, err);
    if (rc < 0) return rc;
    if (r->link.reply.n == 0) return bf_redis_lost(r, err);
    if ((rc = bf_redis_meta_read(r, &d, &mark, err)) < 0) return rc;
    if (!same_shape(&d, &r->desc))
        return bf_fail(err, BF_EMISMATCH, "%s was made anew as %s m=%llu k=%u, here it is %s m=%llu k=%u", r->link.label, d.name,
                       (unsigned long long)d.g.m, d.g.k, r->desc.name, (unsigned long long)r->desc.g.m, r->desc.g.k);
    if (mark != seen) return bf_redis_lost(r, err);         /* also 0: no mark is 0 */
    r->mark = mark;
    *changed = true;
    return 0;
}

/* ---- opening ---- */
static bf_redis *start(bf_store *s, const bf_spec *spec, bf_error *err)
{
    bf_redis *r = s->impl;
    if (r) return r;                                        /* another try of the same opening */
    if (!(s->impl = r = calloc(1, sizeof *r))) { bf_fail(err, BF_ENOMEM, "out of memory"); return NULL; }
    if (bf_link_init(&r->link, spec->storage, spec->key, err) < 0) return NULL;
    size_t len = strlen(r->link.url.key);
    if (!(r->meta = malloc(len + 6))) { bf_fail(err, BF_ENOMEM, "out of memory"); return NULL; }
    memcpy(r->meta, r->link.url.key, len);
    memcpy(r->meta + len, ":meta", 6);
    s->label = r->link.label;
    return r;
}

/* K:meta and how long K is, both of one moment: the reply's leaves, the last of them being the length. */
static int look(bf_redis *r, long long *bytes, bf_error *err)
{
    bf_link *l = &r->link;
    static const char *const words[] = { "MULTI", "HGETALL", "STRLEN", "EXEC" };
    int rc = bf_link_begin(l, true, err);
    if (rc < 0) return rc;
    for (int i = 0; i < 4; i++) {
        bf_link_count(l, i % 3 ? 2 : 1);
        bf_link_word(l, words[i]);
        if (i % 3) bf_link_word(l, i == 1 ? r->meta : l->url.key);
    }
    if ((rc = bf_link_finish(l, 4, err)) < 0) return rc;
    if (l->reply.n && bf_reply_integer(&l->reply, l->reply.n - 1, bytes)) return 0;
    return bf_fail(err, BF_EIO, "%s: no length in the answer to STRLEN", l->label);
}

int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err)
{
    size_t len;
    int rc = bf_link_begin(&r->link, true, err);
    if (rc < 0) return rc;
    bf_link_count(&r->link, 4);
    bf_link_word(&r->link, "GETRANGE");
    bf_link_word(&r->link, r->link.url.key);
    bf_link_number(&r->link, r->mark_at);
    bf_link_number(&r->link, r->mark_at + BF_REDIS_MARK - 1);
    if ((rc = bf_link_finish(&r->link, 1, err)) < 0) return rc;
    const char *bytes = bf_reply_text(&r->link.reply, 0, &len);
    *mark = bf_redis_mark_in(bytes, bytes ? len : 0);
    return 0;
}

static bool may_create(const bf_spec *spec) { return !spec->read_only && !spec->must_exist && bf_sizes(spec); }

/* A bitmap that another system made: no companion hash, no mark, and never longer than it is. */
static int attach_foreign(bf_store *s, const bf_spec *spec, bf_desc *d, long long bytes, bf_error *err)
{
    bf_redis *r = s->impl;
    if (!(spec->must_exist || spec->read_only) || !spec->scheme)
        return bf_fail(err, BF_EFORMAT, "%s holds %lld bytes that are no filter of ours: open() them with scheme, m and k, or take another key", r->link.label, bytes);
    if (spec->counting) return bf_fail(err, BF_ENOTSUP, "%s holds bytes of another system: they are opened as bits, not as counters", r->link.label);
    int rc = bf_size(d, spec, err);
    if (rc < 0 || (rc = bf_secret_check(d->scheme, spec, &d->secret_check, err)) < 0) return rc;
    bf_redis_place(r, d);
    r->foreign = true;
    return 1;
}

static int nothing_there(const bf_redis *r, const bf_spec *spec, bool meta, bf_error *err)
{
    if (may_create(spec)) return 0;
    if (meta) return bf_redis_lost(r, err);
    return bf_fail(err, BF_EIO, "%s does not exist", r->link.label);
}

static int attach_once(bf_store *s, const bf_spec *spec, bf_desc *d, bool *stub, bf_error *err)
{
    bf_redis *r = s->impl;
    long long bytes;
    uint32_t mark, want = 0;
    *stub = false;
    int rc = look(r, &bytes, err);
    if (rc < 0) return rc;
    bool meta = r->link.reply.n > 1;
    if (meta && (rc = bf_redis_meta_read(r, d, &want, err)) < 0) return rc;
    if (bytes == 0) return nothing_there(r, spec, meta, err);
    if (!meta) return attach_foreign(s, spec, d, bytes, err);
    bf_redis_place(r, d);
    if ((rc = bf_redis_mark(r, &mark, err)) < 0) return rc;
    if (mark == want) { r->mark = mark; return 1; }
    *stub = true;
    return bf_fail(err, BF_EFORMAT, "%s holds %lld bytes, but not the mark of its :meta: delete both to start anew", r->link.label, bytes);
}

/* A key that was just lost may for a moment be the stub of an add, and one may be exchanged between the two trips: looked
 * at again before it is an error. */
static int attach_locked(bf_store *s, const bf_spec *spec, bf_desc *d, bf_error *err)
{
    bool stub = false;
    int rc = attach_once(s, spec, d, &stub, err);
    for (int i = 0; stub && i < STUB_TRIES; i++) {
        nanosleep(&(struct timespec){ 0, 4000000 }, NULL);
        rc = attach_once(s, spec, d, &stub, err);
    }
    return rc;
}

static int attach(bf_store *s, const bf_spec *spec, bf_desc *desc, bf_error *err)
{
    if (spec->shards > 1) return bf_fail(err, BF_ENOTSUP, "shards=%u: sharded filters are not in this version", spec->shards);
    bf_redis *r = start(s, spec, err);
    if (!r) return err && err->code ? err->code : BF_EINVAL;
    bf_link_lock(&r->link);
    int rc = attach_locked(s, spec, desc, err);
    bf_link_unlock(&r->link);
    return rc;
}

static int create(bf_store *s, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    bf_redis *r = s->impl;
    (void)spec;
    if (d->g.counting && bf_bits(&d->g) > BF_REDIS_M_MAX)
        return bf_fail(err, BF_EINVAL, "m=%llu counters do not fit one Redis key (at most %llu)", (unsigned long long)d->g.m,
                       (unsigned long long)(BF_REDIS_M_MAX / BF_CELL_BITS));
    if (d->g.m > BF_REDIS_M_MAX)
        return bf_fail(err, BF_EINVAL, "m=%llu bits do not fit one Redis key (at most %llu): larger filters need shards",
                       (unsigned long long)d->g.m, (unsigned long long)BF_REDIS_M_MAX);
    bf_link_lock(&r->link);
    int rc = bf_redis_make(r, d, err);
    bf_link_unlock(&r->link);
    return rc;
}

/* ---- commands of a batch ---- */
/* The lines of 64 bytes a key's bits lie in, where they are one or two; else 0. */
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

static char *copy(char *at, const char *text, size_t len) { memcpy(at, text, len); return at + len; }
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
    bf_link *l = &r->link;
    bool add = op == BF_OP_ADD;
    bf_link_count(l, 2 + (size_t)k * (add ? 4 : 3) + (with_mark ? 3 : 0));
    bf_link_word(l, add ? "BITFIELD" : "BITFIELD_RO");
    bf_link_word(l, l->url.key);
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

static void put_getrange(bf_redis *r, uint64_t from, uint64_t bytes)
{
    bf_link *l = &r->link;
    bf_link_count(l, 4);
    bf_link_word(l, "GETRANGE");
    bf_link_word(l, l->url.key);
    bf_link_number(l, from);
    bf_link_number(l, from + bytes - 1);
}

static void put_getbits(bf_redis *r, const uint64_t *pos, unsigned k)
{
    bf_link *l = &r->link;
    for (unsigned i = 0; i < k; i++) {
        bf_link_count(l, 3);
        bf_link_word(l, "GETBIT");
        bf_link_word(l, l->url.key);
        bf_link_number(l, pos[i]);
    }
}

/* How key i of a trip is asked: by so many GETRANGEs, or 0 = BITFIELD, k GETBITs. */
static bool mark_inside(const bf_redis *r, int op, const uint64_t *last, unsigned k)
{
    uint64_t line[2];
    return !r->foreign && (op == BF_OP_ADD || (lines_of(last, k, line) == 0 && !r->no_bitfield_ro));
}

static void put_trip(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k)
{
    bool inside = mark_inside(r, op, pos + (nkeys - 1) * k, k);
    uint64_t line[2];
    for (size_t i = 0; i < nkeys; i++, pos += k) {
        unsigned lines = op == BF_OP_TEST ? lines_of(pos, k, line) : 0;
        for (unsigned j = 0; j < lines; j++) put_getrange(r, line[j] * LINE, LINE);
        if (lines == 0 && op == BF_OP_TEST && r->no_bitfield_ro) put_getbits(r, pos, k);
        else if (lines == 0) put_bitfield(r, op, pos, k, inside && i + 1 == nkeys);
        bf_link_push(&r->link);
    }
    if (!inside && !r->foreign) put_getrange(r, r->mark_at, BF_REDIS_MARK);
}

/* ---- replies of a batch ---- */
typedef struct {
    uint8_t *present;
    uint32_t mark;
    int refused;               /* the first error reply, as a code; its text is in err */
    bool unknown;              /* it says: unknown command */
} answers;

static int nonsense(bf_redis *r, bf_error *err)
{
    bf_link_drop(&r->link);
    return bf_fail(err, BF_EIO, "%s: an answer has not the form of the question", r->link.label);
}

static int next(bf_redis *r, answers *a, bf_error *err)
{
    char text[32];
    int rc = bf_link_next(&r->link, err);
    if (rc < 0 || a->refused || !bf_reply_error(&r->link.reply, text, sizeof text)) return rc;
    a->unknown = !strncmp(text, "ERR unknown command", 19);
    a->refused = bf_link_refusal(&r->link, err);
    return 0;
}

static int take_lines(bf_redis *r, const uint64_t *pos, unsigned k, const uint64_t *line, unsigned lines, answers *a, bool *all, bf_error *err)
{
    for (unsigned j = 0; j < lines; j++) {
        size_t len;
        int rc = next(r, a, err);
        if (rc < 0) return rc;
        const char *bytes = bf_reply_text(&r->link.reply, 0, &len);
        if (a->refused) continue;
        if (!bytes || len > LINE) return nonsense(r, err);
        for (unsigned i = 0; i < k; i++) {
            uint64_t at = pos[i] / 8 - line[j] * LINE;      /* wraps where the bit is in the other line */
            if (at < LINE) *all &= at < len && ((uint8_t)bytes[at] & 0x80 >> pos[i] % 8) != 0;
        }
    }
    return 0;
}

static int take_bitfield(bf_redis *r, unsigned k, uint8_t *old, bool with_mark, answers *a, bool *all, bf_error *err)
{
    const bf_redis_leaf *v = NULL;
    int rc = next(r, a, err);
    if (rc < 0 || a->refused) return rc;
    if (r->link.reply.n != k + (size_t)with_mark) return nonsense(r, err);
    v = r->link.reply.leaves;
    for (unsigned i = 0; i < k + with_mark; i++) if (v[i].type != REDIS_REPLY_INTEGER) return nonsense(r, err);
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
        if (!a->refused && !bf_reply_integer(&r->link.reply, 0, &v)) return nonsense(r, err);
        *all &= v == 1;
    }
    return 0;
}

static int take_trip(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k, answers *a, bf_error *err)
{
    bool inside = mark_inside(r, op, pos + (nkeys - 1) * k, k);
    uint64_t line[2];
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < nkeys; i++, pos += k) {
        bool all = true;
        unsigned lines = op == BF_OP_TEST ? lines_of(pos, k, line) : 0;
        if (lines) rc = take_lines(r, pos, k, line, lines, a, &all, err);
        else if (op == BF_OP_TEST && r->no_bitfield_ro) rc = take_getbits(r, k, a, &all, err);
        else rc = take_bitfield(r, k, op == BF_OP_ADD ? r->old + i * k : NULL, inside && i + 1 == nkeys, a, &all, err);
        a->present[i] = all;
    }
    if (rc < 0 || inside || r->foreign) return rc;
    if ((rc = next(r, a, err)) < 0 || a->refused) return rc;
    size_t len;
    const char *bytes = bf_reply_text(&r->link.reply, 0, &len);
    a->mark = bf_redis_mark_in(bytes, bytes ? len : 0);
    return 0;
}

static int trip(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k, answers *a, bf_error *err)
{
    int rc = bf_link_begin(&r->link, op == BF_OP_ADD, err);
    if (rc < 0) return rc;
    a->mark = 0;
    a->refused = 0;
    a->unknown = false;
    put_trip(r, op, pos, nkeys, k);
    if ((rc = bf_link_send(&r->link, err)) < 0) return rc;
    return take_trip(r, op, pos, nkeys, k, a, err);
}

/* ---- a batch ---- */
/* Once more: after a fault of a connection that stood; where the bits were exchanged between two commands of the trip;
 * where BITFIELD_RO turned out to be missing. */
static int test(bf_redis *r, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present, bf_error *err)
{
    answers a = { .present = present };
    bool changed = true, retried = false;
    for (int i = 0; changed && i < 10; i++) {
        int rc = trip(r, BF_OP_TEST, pos, nkeys, k, &a, err);
        if (rc < 0 && !retried && !r->link.fresh && !r->link.timed_out && !r->link.context) { retried = true; continue; }
        if (rc < 0) return rc;
        if (a.unknown && !r->no_bitfield_ro) { r->no_bitfield_ro = true; continue; }
        if (a.refused) return a.refused;
        if (r->foreign) return 0;
        if ((rc = bf_redis_follow(r, a.mark, &changed, err)) < 0) return rc;
    }
    return changed ? bf_fail(err, BF_EIO, "%s is made anew too often: no answer", r->link.label) : 0;
}

static int not_sure(bf_redis *r, bf_error *err)
{
    if (!err || err->code != BF_EIO) return err ? err->code : BF_EIO;
    if (err->sys_errno) return bf_fail_sys(err, err->sys_errno, "tell what was added: no answer from", r->link.label);
    return bf_fail(err, BF_EIO, "%s: cannot tell what was added: the answer is not Redis's", r->link.label);
}

static int add(bf_redis *r, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present, bf_error *err)
{
    answers a = { .present = present };
    bool changed;
    size_t bits = nkeys * k;
    if (bits > r->old_cap) {
        uint8_t *more = realloc(r->old, bits);
        if (!more) return bf_fail(err, BF_ENOMEM, "out of memory");
        r->old = more;
        r->old_cap = bits;
    }
    memset(r->old, 1, bits);                                /* what no reply told is not undone */
    int rc = trip(r, BF_OP_ADD, pos, nkeys, k, &a, err);
    if (rc < 0) return r->link.sent ? not_sure(r, err) : rc;
    if (a.refused) return a.refused;
    if (r->foreign || (rc = bf_redis_follow(r, a.mark, &changed, err)) == 0) return rc;
    if (r->link.context) bf_redis_undo(r, pos, bits, NULL);
    return rc;
}

static int apply(bf_store *s, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present, bf_error *err)
{
    bf_redis *r = s->impl;
    bf_link_lock(&r->link);
    int rc = r->desc.g.counting ? bf_redis_count_apply(r, op, pos, nkeys, k, present, err) : op == BF_OP_ADD ? add(r, pos, nkeys, k, present, err) : test(r, pos, nkeys, k, present, err);
    bf_link_unlock(&r->link);
    return rc;
}

/* ---- whole bitmaps: redis_bulk.c, with the connection to oneself ---- */
#define LOCKED(call) bf_redis *r = s->impl; bf_link_lock(&r->link); int rc = call; bf_link_unlock(&r->link); return rc
static int own(const bf_redis *r, const char *what, bf_error *err)
{
    return r->foreign ? bf_fail(err, BF_ENOTSUP, "%s has no :meta and no mark: it cannot %s", r->link.label, what) : 0;
}
#define OWN(what) do { int no = own(s->impl, what, err); if (no < 0) return no; } while (0)
static int read_(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err) { LOCKED(bf_redis_read(r, offset, buf, len, err)); }
static int count(bf_store *s, uint64_t *ones, bf_error *err) { LOCKED(bf_redis_count(r, ones, err)); }
static int clear(bf_store *s, bf_error *err) { OWN("be cleared"); LOCKED(bf_redis_clear(r, err)); }
static int unite(bf_store *s, const uint64_t *words, bf_error *err) { OWN("be united"); LOCKED(r->desc.g.counting ? bf_redis_count_unite(r, words, err) : bf_redis_unite(r, words, err)); }
static int expire(bf_store *s, double seconds, bf_error *err) { OWN("expire"); LOCKED(bf_redis_expire(r, seconds, err)); }
static int remove_(bf_store *s, bf_error *err) { OWN("be deleted"); LOCKED(bf_redis_remove(r, err)); }

static bool current(const bf_store *s)
{
    bf_redis *r = s->impl;
    uint32_t mark = 0;
    bf_link_lock(&r->link);
    bool same = r->foreign || (bf_redis_mark(r, &mark, NULL) == 0 && mark == r->mark);
    bf_link_unlock(&r->link);
    return same;
}

static void close_(bf_store *s)
{
    bf_redis *r = s->impl;
    if (!r) return;
    bf_link_free(&r->link);
    free(r->meta);
    free(r->old);
    free(r);
}

const bf_store_ops bf_store_redis = { .name = "redis", .batch = TRIP_KEYS, .attach = attach, .create = create,
                                      .apply = apply, .current = current, .read = read_, .count = count, .clear = clear,
                                      .unite = unite, .expire = expire, .remove = remove_, .close = close_ };
#endif
