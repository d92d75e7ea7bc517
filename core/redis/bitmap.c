/* bitmap.c - whole bitmaps in Redis: making, reading, counting, clearing, uniting, expiring,
 * deleting. What must happen at once is one small script; what is large goes to a temporary key
 * first, a MiB a command, so that nobody else waits long.  Temporary keys share K's slot and expire
 * by themselves should this process die. */
#include "parts/filter.h"
#include "redis/bitmap.h"
#include "redis/generation.h"
#include "redis/meta.h"
#include "redis/names.h"
#include "redis/scripts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 8, HEAVY = 2, TEMP_SECONDS = 600 }; /* commands a trip; of those that carry a MiB */

/* Sends it; 1 or 0 as the script says. */
static int run_script(bf_redis *r, bf_error *err)
{
    long long v = 0;
    int rc = bf_conn_run_script(r->conn, &v, err);
    return rc < 0 ? rc
           : v >= 0
               ? v != 0
               : bf_fail(err, BF_EIO,
                     "%s: its temporary key was evicted or deleted meanwhile: nothing was changed",
                     r->label);
}

/* Somebody may have cleared it or re-created it meanwhile, maybe with other parameters. */
static int refresh_mark(bf_redis *r, bf_error *err)
{
    uint32_t seen;
    bool changed;
    int rc = bf_redis_mark(r, &seen, err);
    return rc < 0 ? rc : bf_redis_check_generation(r, seen, &changed, err);
}

static int lost_if_none(bf_redis *r, int rc, bf_error *err)
{
    return rc == 0 ? bf_redis_fail_lost(r, err) : rc < 0 ? rc : 0;
}

/* ---- temporary keys ---- */
static void set_range(bf_conn *l, const char *key, uint64_t at, const void *bytes, size_t len)
{
    bf_conn_command(l, "SETRANGE %s %n %b", key, at, bytes, len);
}

static int end_window(bf_conn *l, const char *temp, bf_error *err)
{
    bf_conn_command(l, "EXPIRE %s %n", temp, (uint64_t)TEMP_SECONDS);
    return bf_conn_finish(l, err);
}

/* A key of zeros and the mark, if there is room for it, grown a step at a time. */
int bf_redis_zeros(bf_redis *r, const char *temp, uint32_t mark, bf_error *err)
{
    uint8_t big[BF_REDIS_MARK];
    uint64_t at = BF_REDIS_STEP - 1;
    int rc = 0;
    bf_redis_mark_bytes(mark, big);
    for (bool whole = false; rc == 0 && !whole;) {
        bf_conn_begin(r->conn, BF_WRITES);
        for (size_t n = 0; n < WINDOW && at < r->mark_at; n++, at += BF_REDIS_STEP)
            set_range(r->conn, temp, at, "", 1);
        whole = at >= r->mark_at;
        if (whole && bf_redis_mark_apart(r))
            set_range(r->conn, temp, r->mark_at - 1, "", 1);
        else if (whole)
            set_range(r->conn, temp, r->mark_at, big, sizeof big);
        rc = end_window(r->conn, temp, err);
    }
    return rc;
}

static int upload(bf_redis *r, const char *temp, const uint8_t *bytes, bf_error *err)
{
    uint64_t at = (r->bits + 7) / 8;
    int rc = 0;
    while (rc == 0 && at > 0) {
        bf_conn_begin(r->conn, BF_WRITES);
        for (size_t n = 0; n < HEAVY && at > 0; n++) {
            const size_t c = at % BF_REDIS_STEP ? (size_t)(at % BF_REDIS_STEP) : BF_REDIS_STEP;
            at -= c;
            set_range(r->conn, temp, at, bytes + at, c);
        }
        rc = end_window(r->conn, temp, err);
    }
    return rc;
}

/* After a fault: best effort, the error stands. */
void bf_redis_discard(bf_redis *r, const char *temp)
{
    bf_conn_begin(r->conn, BF_WRITES);
    bf_conn_command(r->conn, "DEL %s", temp);
    bf_conn_finish(r->conn, NULL);
}

/* ---- making and changing ---- */
int bf_redis_make(bf_redis *r, const bf_desc *d, bf_error *err)
{
    char *temp = bf_redis_name(r->conn, r->key, BF_NAME_TEMP, 0);
    uint32_t mark = bf_redis_new_mark();
    if (!temp) return bf_fail(err, BF_ENOMEM, "out of memory");
    bf_redis_place(r, d);
    int rc = bf_redis_zeros(r, temp, mark, err);
    if (rc == 0) {
        bf_conn_begin(r->conn, BF_WRITES);
        bf_conn_eval(r->conn, bf_script_create, 3);
        bf_conn_append(r->conn, "%s %s %s %x", r->key, r->meta, temp, r->seen);
        bf_redis_meta_put(r, d, mark);
        rc = run_script(r, err);
    }
    if (rc < 0) bf_redis_discard(r, temp);
    if (rc == 1) r->mark = r->filter_id = mark;
    free(temp);
    return rc;
}

/* Bits that are ready in temp get into K at once. */
static int swap_in(bf_redis *r, const char *how, const char *temp, uint32_t mark, bf_error *err)
{
    int rc = refresh_mark(r, err);
    if (rc < 0) return rc;
    bf_conn_begin(r->conn, BF_WRITES);
    bf_redis_script(r, bf_script_exchange, temp);
    bf_conn_append(r->conn, "%x %r %s", mark, mark, how);
    return run_script(r, err);
}

/* renews: what comes of it has temp's mark. */
static int exchange_bitmap(bf_redis *r, const char *how, const void *bytes, bf_error *err)
{
    char *temp = bf_redis_name(r->conn, r->key, BF_NAME_TEMP, 0);
    uint32_t mark = bf_redis_new_mark();
    if (!temp) return bf_fail(err, BF_ENOMEM, "out of memory");
    int rc = bf_redis_zeros(r, temp, mark, err);
    if (rc == 0 && bytes) rc = upload(r, temp, bytes, err);
    for (int i = 0; rc == 0 && i < BF_REDIS_TRIES; i++) rc = swap_in(r, how, temp, mark, err);
    if (rc != 1) bf_redis_discard(r, temp);
    if (rc == 1 && strcmp(how, "OR") != 0) r->mark = mark;
    free(temp);
    return lost_if_none(r, rc, err);
}

int bf_redis_replace(bf_redis *r, const void *bytes, bf_error *err)
{
    return exchange_bitmap(r, "", bytes, err);
}
int bf_redis_intersect(bf_redis *r, const void *bytes, bf_error *err)
{
    return exchange_bitmap(r, "AND", bytes, err);
}
int bf_redis_unite(bf_redis *r, const void *bytes, bf_error *err)
{
    return exchange_bitmap(r, "OR", bytes, err);
}

uint64_t bf_redis_ms(double seconds)
{
    return seconds == 0 ? 0 : seconds < 0.001 ? 1 : (uint64_t)(seconds * 1000 + 0.5);
}

/* A command over K and K:meta, until its script finds the mark.  ms: its argument, 0 = none. */
static int command_on_keys(bf_redis *r, const char *command, uint64_t ms, bf_error *err)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < BF_REDIS_TRIES; i++) {
        if ((rc = refresh_mark(r, err)) < 0) return rc;
        bf_conn_begin(r->conn, BF_WRITES);
        bf_redis_script(r, bf_script_care, NULL);
        bf_conn_append(r->conn, "%s", command);
        if (ms) bf_conn_append(r->conn, "%n", ms);
        rc = run_script(r, err);
    }
    return lost_if_none(r, rc, err);
}

int bf_redis_expire(bf_redis *r, double seconds, bf_error *err)
{
    const uint64_t ms = bf_redis_ms(seconds);
    return command_on_keys(r, ms ? "PEXPIRE" : "PERSIST", ms, err);
}
int bf_redis_remove(bf_redis *r, bf_error *err) { return command_on_keys(r, "DEL", 0, err); }

/* ---- looking ---- */
/* A walk over the bytes of K, in commands that read so many each; take() gets each reply, and about
 * how many bytes it is. */
typedef struct walk {
    const char *command;
    uint64_t from, end, step;
    bool (*take)(bf_redis *r, struct walk *w, uint64_t asked);
    uint8_t *to;            /* of take_bytes */
    uint64_t *slices;       /* of take_count; NULL: the ones are not counted by slice */
    uint64_t ones, missing; /* what was found */
} walk;
static bool take_bytes(bf_redis *r, walk *w, uint64_t asked)
{
    size_t len;
    const char *bytes = bf_reply_only_text(&r->conn->reply, &len);
    if (!bytes || len > asked) return false;
    if (len) memcpy(w->to, bytes, len); /* short: the key was lost, which the mark tells */
    memset(w->to + len, 0, (size_t)asked - len);
    w->to += asked;
    w->missing += asked - len;
    return true;
}

static bool take_count(bf_redis *r, walk *w, uint64_t asked)
{
    long long v;
    if (!bf_reply_integer(&r->conn->reply, 0, &v) || v < 0 || (uint64_t)v > 8 * asked) return false;
    w->ones += (uint64_t)v;
    if (w->slices) *w->slices++ = (uint64_t)v;
    return true;
}

/* 1: all of it came from the same bits.  0: from others of the same filter, so it is to be read
 * again from the start. */
static int walk_once(bf_redis *r, walk *w, bf_error *err)
{
    const size_t most = w->to ? HEAVY : WINDOW;
    while (w->from < w->end) {
        size_t n = 0;
        uint64_t at = w->from;
        bool changed = false;
        bf_redis_outcome a = { .err = err };
        bf_conn_begin(r->conn, BF_READS);
        for (; n < most && w->from < w->end; n++, w->from += w->step) {
            const uint64_t c = w->end - w->from < w->step ? w->end - w->from : w->step;
            bf_conn_command(r->conn, "%s %s %n %n", w->command, r->key, w->from, w->from + c - 1);
            if (w->to) bf_conn_expect(r->conn, 0, (size_t)c);
        }
        if (bf_redis_marked(r)) bf_redis_append_mark(r);
        int rc = bf_conn_finish(r->conn, err);
        if (rc < 0) return rc;
        for (size_t i = 0; i < n; i++, at += w->step) {
            bf_conn_next(r->conn);
            if (w->take(r, w, w->end - at < w->step ? w->end - at : w->step)) continue;
            bf_conn_drop(r->conn);
            return bf_fail(err, BF_EIO, "%s: unexpected reply to %s", r->label, w->command);
        }
        if (!bf_redis_marked(r)) continue;
        rc = bf_redis_check_generation(r, bf_redis_take_mark(r, &a), &changed, err);
        if (rc < 0 || changed) return rc < 0 ? rc : 0;
    }
    return 1;
}

static int walk_string(bf_redis *r, walk *w, bf_error *err)
{
    const walk start = *w;
    int rc = 0;
    for (int i = 0; rc == 0 && i < BF_REDIS_TRIES; i++) {
        *w = start;
        rc = walk_once(r, w, err);
    }
    if (rc == 0) return bf_fail(err, BF_EIO, "%s is cleared too often to be read", r->label);
    return rc < 0 ? rc : 0;
}

int bf_redis_read(bf_redis *r, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    const uint64_t m = r->bits;
    walk w = { .command = "GETRANGE",
        .from = offset,
        .end = offset + len,
        .step = BF_REDIS_STEP,
        .take = take_bytes,
        .to = buf };
    int rc = walk_string(r, &w, err);
    if (rc == 0 && w.missing && !r->foreign) return bf_redis_fail_lost(r, err);
    if (rc == 0 && m % 8 && len && offset + len == (m + 7) / 8)
        ((uint8_t *)buf)[len - 1] &= (uint8_t)~(0xFF >> m % 8);
    return rc;
}

int bf_redis_count(bf_redis *r, uint64_t *ones, uint64_t *slices, bf_error *err)
{
    const uint64_t bytes = (r->bits + 7) / 8,
                   step = slices ? (bytes + BF_SLICES - 1) / BF_SLICES : 16 * BF_REDIS_STEP;
    walk w = {
        .command = "BITCOUNT", .end = bytes, .step = step, .take = take_count, .slices = slices
    };
    const int rc = walk_string(r, &w, err);
    *ones = w.ones;
    return rc;
}
