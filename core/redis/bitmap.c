/* bitmap.c - complete bitmaps in Redis: creates, reads, counts, clears, unites, expires and
 * deletes them. Atomic steps are small scripts. Large data is first uploaded to a temporary key,
 * one MiB per command, so that no command blocks Redis for long. Temporary keys are in the slot of
 * K, and expire if this process dies. */
#include "redis/redis.h"

enum { TEMP_SECONDS = 600 };
/* Commands per round trip. LARGE_COMMANDS: if each command transfers one MiB. */
enum { COMMANDS = 8, LARGE_COMMANDS = 2 };
/* A sample has PLACES ranges of PLACE bytes. Ranges of counters are shorter, because they are
 * transferred: Redis can count bits only. */
enum { PLACES = 16, PLACE = 1 << 14, PLACE_OF_COUNTERS = 1 << 12 };

/* ---- temporary keys ---- */
static int end_upload(bf_conn *l, const char *temp, bf_error *err)
{
    bf_conn_command(l, "EXPIRE %s %n", temp, (uint64_t)TEMP_SECONDS);
    return bf_conn_finish(l, err);
}

/* Creates a key with zeros and a mark. One command creates the complete string: Redis would copy a
 * string that grows in steps (bench/NOTES.md). Redis checks maxmemory before a command, so the
 * command is sent twice: the second is refused if the first took too much memory. */
static int zeros(bf_redis *r, const char *temp, uint32_t mark, bf_error *err)
{
    bf_conn *l = r->conn;
    bf_conn_begin(l, BF_WRITES);
    for (int i = 0; i < 2; i++)
        if (bf_redis_mark_apart(r))
            bf_conn_command(l, "SETRANGE %s %n %b", temp, r->mark_at - 1, "", (size_t)1);
        else
            bf_conn_command(l, "SETRANGE %s %n %r", temp, r->mark_at, mark);
    return end_upload(l, temp, err);
}

static int upload(bf_redis *r, const char *temp, const uint8_t *bytes, bf_error *err)
{
    uint64_t at = (r->bits + 7) / 8;
    int rc = 0;
    while (rc == 0 && at > 0) {
        bf_conn_begin(r->conn, BF_WRITES);
        for (size_t n = 0; n < LARGE_COMMANDS && at > 0; n++) {
            const size_t c = at % BF_REDIS_STEP ? (size_t)(at % BF_REDIS_STEP) : BF_REDIS_STEP;
            at -= c;
            bf_conn_command(r->conn, "SETRANGE %s %n %b", temp, at, bytes + at, c);
        }
        rc = end_upload(r->conn, temp, err);
    }
    return rc;
}

/* Deletes a temporary key after an error. A second error is ignored. */
static void discard(bf_redis *r, const char *temp)
{
    bf_conn_begin(r->conn, BF_WRITES);
    bf_conn_command(r->conn, "DEL %s", temp);
    bf_conn_finish(r->conn, NULL);
}

/* ---- creating and changing ---- */
/* Runs a script and returns its result, 1 or 0, or an error. If the script returns -1, the
 * temporary key is lost. */
static int run_script(bf_redis *r, bf_error *err)
{
    long long v = 0;
    const int rc = bf_conn_run_script(r->conn, &v, err);
    if (rc < 0 || v >= 0) return rc < 0 ? rc : v != 0;
    return bf_fail(
        err, BF_EIO, "%s: its temporary key was evicted or deleted: nothing was changed", r->label);
}

/* Sets *bytes to the bits that r gets from bf_redis_contents(r), or to NULL. *copy: to free. */
static int contents_of(const bf_redis *r, const uint8_t **bytes, uint64_t **copy, bf_error *err)
{
    const bf_filter *from = bf_redis_contents(r);
    const unsigned bits = bf_cell_ops_of(&r->desc.g)->bits;
    if (!from) return 0;
    *bytes = (const uint8_t *)from->part[0]->bitmap.store.words;
    if (r->whole != r) *bytes += (size_t)(r - r->whole->shard) * (r->bits / 8);
    if (!r->sizes) return 0;
    if (!(*copy = bf_words_new(r->bits / 64))) return bf_fail(err, BF_ENOMEM, "out of memory");
    *bytes = (const uint8_t *)*copy;
    for (unsigned i = 0; i < r->sizes->n; i++) {
        const bf_part *p = from->part[i];
        if (bf_part_is_living(from, p, r->epoch)) /* in Redis the slice is of a later epoch */
            memcpy(*copy + p->start * bits / 64, p->bitmap.store.words, p->bitmap.store.nwords * 8);
    }
    return 0;
}

int bf_redis_unite_contents(bf_redis *r, bf_error *err)
{
    const uint8_t *bytes;
    uint64_t *copy = NULL;
    int rc = contents_of(r, &bytes, &copy, err);
    if (rc == 0)
        rc = r->desc.g.counting ? bf_redis_count_unite(r, bytes, err)
                                : bf_redis_change(r, BF_UNITE, bytes, err);
    free(copy);
    return rc;
}

int bf_redis_make(bf_redis *r, const bf_params *d, bf_error *err)
{
    bf_redis_sizes sizes;
    const uint8_t *bytes = NULL;
    uint64_t *copy = NULL;
    const bf_filter *from = bf_redis_contents(r);
    if (d->kind && bf_redis_first_parts(d, from, &sizes, err) < 0) return BF_EINVAL;
    const uint32_t lost = r->mark;
    if (bf_redis_set_params(r, d, &sizes, err) < 0) return BF_ENOMEM;
    r->epoch = from && d->kind == BF_WINDOW ? bf_live(from->epoch) : BF_NEVER;
    int rc = contents_of(r, &bytes, &copy, err);
    if (rc == 0) rc = bf_redis_upload_new(r, lost, bytes, err);
    free(copy);
    return rc;
}

int bf_redis_upload_new(bf_redis *r, uint32_t lost, const void *bytes, bf_error *err)
{
    char *temp = bf_redis_name(r->conn, r->key, BF_NAME_TEMP, 0);
    const uint32_t mark = bf_random();
    if (!temp) return bf_fail(err, BF_ENOMEM, "out of memory");
    int rc = zeros(r, temp, mark, err);
    if (rc == 0 && bytes) rc = upload(r, temp, bytes, err);
    if (rc == 0) {
        bf_conn_begin(r->conn, BF_WRITES);
        bf_conn_eval(r->conn, bf_script_create, 3);
        bf_conn_append(r->conn, "%s %s %s %x %n", r->key, r->meta, temp, lost, bf_redis_length(r));
        bf_redis_meta_put(r, &r->desc, mark);
        rc = run_script(r, err);
    }
    if (rc < 0) discard(r, temp);
    if (rc == 1) r->mark = r->filter_id = mark;
    free(temp);
    return rc;
}

/* Appends EVAL of a script that changes nothing unless K has the known mark. */
static void append_if_marked(bf_redis *r, const char *script, const char *temp)
{
    bf_conn *l = r->conn;
    bf_conn_begin(l, BF_WRITES);
    bf_conn_eval(l, script, 2 + (temp != NULL));
    bf_conn_append(l, "%s %s", r->key, r->meta);
    if (temp) bf_conn_append(l, "%s", temp);
    bf_conn_append(l, "%n %x %n", r->mark_at, r->mark, bf_redis_mark_bytes(r) - 1);
}

static int refresh_mark(bf_redis *r, bf_error *err)
{
    uint32_t seen;
    bool changed;
    const int rc = bf_redis_mark(r, &seen, err);
    return rc < 0 ? rc : bf_redis_check_generation(r, seen, &changed, err);
}

/* If another process has replaced the bits, runs the script again with the new mark. */
int bf_redis_run(bf_redis *r, const char *command, uint64_t argument, bf_error *err)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < BF_REDIS_TRIES; i++) {
        if ((rc = refresh_mark(r, err)) < 0) return rc;
        append_if_marked(r, bf_script_care, NULL);
        bf_conn_append(r->conn, command, argument);
        rc = run_script(r, err);
    }
    return rc == 0 ? bf_redis_fail_lost(r, err) : rc < 0 ? rc : 0;
}

/* Sets the number of keys of each part to that of bf_redis_contents(r), or to 0. */
static void set_keys(bf_redis *r)
{
    const bf_filter *from = bf_redis_contents(r);
    const unsigned n = from ? bf_parts_count(from) : 0;
    for (unsigned i = 0; r->desc.kind == BF_GROW && i < r->sizes->n; i++)
        r->sizes->part[i].keys = i < n ? (uint64_t)bf_live(from->part[i]->live) : 0;
}

/* Combines the temporary key, which is complete, with K. If K was replaced meanwhile, tries again;
 * if it has other parts or another epoch, returns 1. */
static int exchange(bf_redis *r, const char *temp, bf_change how, uint32_t mark, bf_error *err)
{
    int rc = 0;
    const uint64_t mark_at = r->mark_at;
    const int64_t epoch = r->epoch;
    for (int i = 0; rc == 0 && i < BF_REDIS_TRIES; i++) {
        if ((rc = refresh_mark(r, err)) < 0) return rc;
        if (r->mark_at != mark_at || r->epoch != epoch) return 1;
        append_if_marked(r, bf_script_exchange, temp);
        bf_conn_append(r->conn, "%x %r %s", mark, mark,
            how == BF_UNITE       ? "OR"
            : how == BF_INTERSECT ? "AND"
                                  : "REPLACE");
        if (how == BF_CLEAR || how == BF_REPLACE) {
            set_keys(r);
            bf_redis_append_keys(r);
        }
        rc = run_script(r, err);
    }
    return rc == 0 ? bf_redis_fail_lost(r, err) : rc < 0 ? rc : 0;
}

int bf_redis_change(bf_redis *r, bf_change how, const void *bytes, bf_error *err)
{
    int rc = 1;
    for (int i = 0; rc == 1 && i < (bytes ? 1 : BF_REDIS_TRIES); i++) {
        char *temp = bf_redis_name(r->conn, r->key, BF_NAME_TEMP, 0);
        const uint32_t mark = bf_random();
        if (!temp) return bf_fail(err, BF_ENOMEM, "out of memory");
        rc = zeros(r, temp, mark, err);
        if (rc == 0 && bytes) rc = upload(r, temp, bytes, err);
        if (rc == 0) rc = exchange(r, temp, how, mark, err);
        if (rc != 0)
            discard(r, temp);
        else if (how != BF_UNITE)
            r->mark = mark;
        free(temp);
    }
    return rc == 1 && !bytes ? bf_fail(err, BF_EIO, "%s changes too fast to be cleared", r->label)
                             : rc;
}

/* ---- reading ---- */
/* A series of commands over the bytes of K: every `step` bytes, one command reads `each` bytes. */
typedef struct {
    const char *command;
    uint64_t from, end, step, each;
    bool sample;      /* sends all commands in one round trip, and does not read the mark */
    uint8_t *to;      /* destination of GETRANGE; NULL: BITCOUNT is used */
    uint64_t *slices; /* receives the result of each BITCOUNT; NULL: not wanted */
    /* ones: set bits counted; missing: bytes that are beyond the end of the string */
    uint64_t ones, missing;
    uint64_t read; /* number of bytes that the commands cover */
} walk;

/* Reads the reply to a command about `requested` bytes. Returns false if the reply is invalid. */
static bool take_reply(const bf_redis_reply *reply, walk *w, uint64_t requested)
{
    size_t len;
    long long v;
    if (!w->to) {
        if (!bf_reply_integer(reply, 0, &v) || v < 0 || (uint64_t)v > 8 * requested) return false;
        w->ones += (uint64_t)v;
        if (w->slices) *w->slices++ = (uint64_t)v;
        return true;
    }
    const char *bytes = bf_reply_only_text(reply, &len);
    if (!bytes || len > requested) return false;
    if (len) memcpy(w->to, bytes, len); /* len < requested if the string is shorter */
    memset(w->to + len, 0, (size_t)requested - len);
    w->to += requested;
    w->missing += requested - len;
    return true;
}

static uint64_t bytes_at(const walk *w, uint64_t at)
{
    return w->end - at < w->each ? w->end - at : w->each;
}

/* Returns 1 if all bytes came from the same bits, 0 if the bits were replaced and must be read
 * again, or an error. */
static int walk_once(bf_redis *r, walk *w, bf_error *err)
{
    const size_t most = w->sample ? SIZE_MAX : w->to ? LARGE_COMMANDS : COMMANDS;
    const bool marked = !w->sample && bf_redis_marked(r);
    while (w->from < w->end) {
        uint64_t at = w->from;
        bool changed = false;
        bf_redis_outcome a = { .err = err };
        bf_conn_begin(r->conn, BF_READS);
        for (size_t n = 0; n < most && w->from < w->end; n++, w->from += w->step) {
            const uint64_t c = bytes_at(w, w->from);
            bf_conn_command(r->conn, "%s %s %n %n", w->command, r->key, w->from, w->from + c - 1);
            if (w->to) bf_conn_expect(r->conn, 0, (size_t)c);
            w->read += c;
        }
        if (marked) bf_redis_append_mark(r);
        int rc = bf_conn_finish(r->conn, err);
        if (rc < 0) return rc;
        for (; at < w->from; at += w->step) {
            bf_conn_next(r->conn);
            if (!take_reply(&r->conn->reply, w, bytes_at(w, at)))
                return bf_redis_fail_protocol(r, err);
        }
        if (!marked) continue;
        rc = bf_redis_check_generation(r, bf_redis_take_mark(r, &a), &changed, err);
        if (rc < 0 || changed) return rc < 0 ? rc : 0;
    }
    return 1;
}

static int walk_string(bf_redis *r, walk *w, bf_error *err)
{
    const walk start = *w;
    for (int i = 0; i < BF_REDIS_TRIES; i++) {
        *w = start;
        const int rc = walk_once(r, w, err);
        if (rc != 0) return rc < 0 ? rc : 0;
    }
    return bf_fail(err, BF_EIO, "%s is cleared too often to be read", r->label);
}

int bf_redis_read(bf_redis *r, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    const uint64_t m = r->bits;
    walk w = { .command = "GETRANGE",
        .from = offset,
        .end = offset + len,
        .step = BF_REDIS_STEP,
        .each = BF_REDIS_STEP,
        .to = buf };
    int rc = walk_string(r, &w, err);
    if (rc == 0 && w.missing && !r->foreign) return bf_redis_fail_lost(r, err);
    if (rc == 0 && m % 8 && len && offset + len == (m + 7) / 8)
        ((uint8_t *)buf)[len - 1] &= (uint8_t)~(0xFF >> m % 8);
    return rc;
}

int bf_redis_count(
    bf_redis *r, uint64_t from, uint64_t bits, uint64_t *ones, uint64_t *slices, bf_error *err)
{
    const uint64_t bytes = (bits + 7) / 8,
                   step = slices ? (bytes + BF_SLICES - 1) / BF_SLICES : 16 * BF_REDIS_STEP;
    walk w = { .command = "BITCOUNT",
        .from = from,
        .end = from + bytes,
        .step = step,
        .each = step,
        .slices = slices };
    const int rc = walk_string(r, &w, err);
    *ones = w.ones;
    return rc;
}

/* Estimates how full a bitmap is, for a warning. Does not read the mark: if the key is lost, the
 * next call returns the error. */
int bf_redis_sample(
    bf_redis *r, uint64_t from, uint64_t bits, uint64_t *ones, uint64_t *of, bf_error *err)
{
    const bf_cell_ops *cells = bf_cell_ops_of(&r->desc.g);
    const uint64_t bytes = (bits + 7) / 8;
    const size_t place = cells->bits == 1 ? PLACE : PLACE_OF_COUNTERS,
                 room = (PLACES + 1) * PLACE_OF_COUNTERS;
    const bool few = bytes <= PLACES * place;
    walk w = { .command = cells->bits == 1 ? "BITCOUNT" : "GETRANGE",
        .from = from,
        .end = from + bytes,
        .step = few ? bytes : (bytes - place) / (PLACES - 1),
        .each = few ? bytes : place,
        .sample = true };
    uint8_t *text = cells->bits == 1 ? NULL : bf_redis_room(&r->whole->room, room);
    if (cells->bits > 1 && !text) return bf_fail(err, BF_ENOMEM, "out of memory");
    if (text) w.to = memset(text, 0, room);
    const int rc = walk_string(r, &w, err);
    *ones = text ? cells->count((const uint64_t *)(const void *)text, room / 8) : w.ones;
    *of = (few ? bits : w.read * 8) / cells->bits;
    return rc;
}
