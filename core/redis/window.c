/* window.c - parts of a forgetting filter in Redis. The part of epoch e is the string {K}:w<e>. The
 * first add in epoch e creates the part; unions also create parts of past epochs. Redis deletes a
 * part at least a step and a minute after its keys have expired. K:meta has the parameters of the
 * filter, the newest epoch (`epoch`), and a field e<epoch> for each part that must exist.
 *
 * The script that creates a part gives the part that was the newest a new mark, and removes the
 * fields of expired epochs. Each round trip about parts reads their marks. While the part of the
 * present epoch has the known mark, no part was created. Otherwise each call reads the fields
 * e<epoch>. A part that is in K:meta but does not exist is lost: an error, never "absent". */
#include "redis/redis.h"
#include <math.h>
#include <time.h>

/* ---- time ----
 * The time comes from Redis. TIME is sent once a step, but at most once a second and at least once
 * a minute. In between, this machine's monotonic clock continues the time. The result may be behind
 * Redis's clock by the duration of the round trip, but is never ahead.
 *
 * A caller's clock must agree with Redis within one step. With a clock that is ahead, keys would
 * expire too early for all callers. With a clock that is behind, keys would be added to expired
 * parts. The caller's time is used only if the filter was created with a caller's clock (K:meta has
 * clock "own"). Such a clock may be behind, for example when a log is replayed. */
static int64_t machine_us(void)
{
    struct timespec t;
#ifdef CLOCK_BOOTTIME
    if (clock_gettime(CLOCK_BOOTTIME, &t) < 0)
#endif
        clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Reads Redis's time. *us is the time in us at some moment of the round trip. */
static int learn_time(bf_filter *f, int64_t *us, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    const bf_redis_reply *reply = &whole->conn->reply;
    BF_REDIS_LOCK(whole);
    const int rc = bf_conn_query(whole->conn, err, "TIME");
    if (rc < 0) return rc;
    const int64_t here = machine_us(), seconds = bf_reply_number(reply, 0, 10),
                  more = bf_reply_number(reply, 1, 10);
    if (reply->n != 2 || seconds < 0 || seconds > INT64_C(1) << 40 || more < 0 || more > 999999)
        return bf_redis_fail_protocol(whole, err);
    *us = seconds * 1000000 + more;
    bf_word_store(&f->clock_offset, (uint64_t)(*us - here ? *us - here : 1));
    bf_word_store(&f->clock_read_at, (uint64_t)here);
    return 0;
}

int bf_redis_window_time(bf_filter *f, double *now, bf_error *err)
{
    const double step = bf_window_step(f), own = *now;
    const int64_t here = machine_us(), age = here - (int64_t)bf_word(&f->clock_read_at);
    const bool users = f->own_clock && bf_flag_get(&bf_redis_whole(f)->users_clock);
    const bool known =
        bf_word(&f->clock_offset) && (double)age < 1e6 * fmin(step < 1 ? 1 : step, 60);
    for (int64_t us = 0;;) {
        const double redis = (double)(here + (int64_t)bf_word(&f->clock_offset)) / 1e6;
        const double latest = us ? (double)us / 1e6 : redis;
        const bool off = f->own_clock && (own - latest > step || (!users && redis - own > step));
        if (off && us)
            return bf_fail(err, BF_EINVAL,
                "%.50s: clock gives %.17g, Redis has %.17g: %s by more than a part (%g s)",
                bf_redis_whole(f)->label, own, redis, own > redis ? "ahead" : "behind", step);
        if (!off && (known || us)) {
            if (!users) *now = redis;
            return 0;
        }
        const int rc = learn_time(f, &us, err);
        if (rc < 0) return rc;
    }
}

/* ---- the ring of parts ---- */
int bf_redis_window_ring(bf_filter *f, bf_error *err)
{
    bf_params d;
    bf_redis_whole(f)->by_born = true;
    while (f->count <= f->desc.parts) {
        int rc = bf_chain_part(&f->desc, f->count, f->count * f->desc.g.m, &d, err);
        if (rc <= 0) return rc < 0 ? rc : bf_redis_fail_field(bf_redis_whole(f), "m", err);
        bf_part *p = bf_redis_part_slot(f, f->count, err);
        if (!p) return BF_ENOMEM;
        p->bitmap.g = d.g;
        p->bitmap.store.nwords = bf_words_of(&d.g);
        bf_chain_add_part(f, p);
    }
    return 0;
}

/* Opens the parts of the epochs now - i for which has[i] is true, and closes the others. The newest
 * part comes last: its mark is read last and shows that no part was created in between. */
static int attach_epochs(bf_filter *f, int64_t now, const bool *has, bf_error *err)
{
    bf_part *p[BF_PARTS_MAX] = { NULL };
    int64_t epoch[BF_PARTS_MAX] = { 0 };
    unsigned n = 0;
    for (unsigned i = f->count; i-- > 0;) {
        epoch[n] = now - i;
        p[n] = bf_window_part(f, now - i);
        if (has[i] && bf_live(p[n]->live) == now - i) continue;
        bf_redis_close_part(p[n]);
        n += has[i];
    }
    const int rc = bf_redis_open_parts(f, p, epoch, n, err);
    for (unsigned i = 0; rc < 0 && i < n; i++) /* parts that were not opened */
        if (bf_live(p[i]->live) == BF_NEVER) bf_redis_close_part(p[i]);
    return rc;
}

/* ---- the parts that exist ---- */
/* Reads the fields born and epoch, and the fields of the epochs now .. now - parts. An epoch whose
 * field is nil has no part. Returns the same as bf_redis_finish_fields. */
static int read_fields(bf_filter *f, int64_t now, int64_t *newest, bool *has, bf_error *err)
{
    enum { FIELDS = 2 }; /* born and epoch, before the fields of the parts */
    bf_redis *whole = bf_redis_whole(f);
    bf_conn *l = whole->conn;
    const unsigned n = f->desc.parts + 1;
    char text[32];
    BF_REDIS_LOCK(whole);
    bf_conn_begin(l, BF_READS);
    bf_conn_command(l, "HMGET %s born epoch", whole->meta);
    bf_conn_expect(l, FIELDS + n, 0);
    for (unsigned i = 0; i < n; i++) {
        snprintf(text, sizeof text, "e%lld", (long long)(now - i));
        bf_conn_append(l, "%s", text);
    }
    const int rc = bf_redis_finish_fields(whole, FIELDS + n, err);
    if (rc < 0) return rc;
    for (unsigned i = 0; i < n; i++) has[i] = l->reply.leaves[FIELDS + i].type == BF_LEAF_TEXT;
    const bool none = l->reply.leaves[1].type == BF_LEAF_NIL; /* no key was added yet */
    *newest = none ? BF_NEVER : bf_reply_number(&l->reply, 1, 10);
    if (!none && (*newest <= BF_NEVER / 2 || *newest >= -BF_NEVER / 2))
        return bf_redis_fail_field(whole, "epoch", err);
    return rc;
}

bool bf_redis_window_is_stale(const bf_filter *f, int64_t now)
{
    const bf_part *p = bf_window_part(f, now);
    return bf_live(p->live) == now && bf_redis_mark_of(p) != p->last_mark;
}

static int too_fast(const bf_filter *f, bf_error *err)
{
    return bf_fail(err, BF_EIO, "%s: its clock runs too fast", bf_redis_whole(f)->label);
}

/* Opens the living parts. If the newest part was open before K:meta was read, sets its last_mark:
 * while the part has this mark, there is no later part. */
int bf_redis_window_list(bf_filter *f, int64_t *now, bool anyway, bf_error *err)
{
    const int64_t seen = bf_live(f->epoch);
    bool has[BF_PARTS_MAX];
    int64_t newest = BF_NEVER;
    int rc = 0;
    if (seen > *now) *now = seen;
    if (!anyway && bf_live(bf_window_part(f, *now)->live) == *now &&
        !bf_redis_window_is_stale(f, *now))
        return 0; /* the known parts are complete */
    for (int tries = 0; tries < BF_REDIS_TRIES; tries++) {
        bf_part *last = bf_window_part(f, *now);
        const uint32_t mark = bf_redis_mark_of(last);
        rc = read_fields(f, *now, &newest, has, err);
        if (rc == 1) rc = bf_redis_follow_id(f, false, err);
        if (rc < 0) return rc;
        if (newest > *now) {
            *now = newest;
            continue;
        }
        if (newest == *now && bf_live(last->live) == *now) last->last_mark = mark;
        if ((rc = attach_epochs(f, *now, has, err)) < 0) return rc;
        if (newest != BF_NEVER) bf_live_raise(f->epoch, newest);
        f->newest = newest;
        if (bf_live(last->live) != *now || !bf_redis_window_is_stale(f, *now)) return 0;
    }
    return too_fast(f, err);
}

/* ---- creating a part ---- */
/* Creates the part of this epoch, unless another process creates it first. Does not open it. */
static int make_epoch(bf_filter *f, bf_part *p, int64_t epoch, bf_error *err)
{
    bf_params d = bf_part_params(f, 0);
    const unsigned parts = f->desc.parts;
    /* in seconds: the part expires one step after its keys, and a minute for clocks that differ */
    const double left = (parts + 2) * bf_window_step(f) + 60;
    const bf_redis_new_part new = { .desc = &d,
        .number = epoch,
        .newest = f->newest,
        .ms = left < 1e12 ? (uint64_t)(left * 1000) : UINT64_C(1000000000000000),
        .oldest = epoch - parts };
    d.kind = BF_FIXED;
    bf_redis_close_part(p);
    int rc = bf_redis_name_part(f, p, epoch, err);
    if (rc == 0) rc = bf_redis_make_part(f, p, &new, err);
    /* the caller opens the part, as if another process had created it */
    bf_redis_close_part(p);
    return rc == 2 ? bf_redis_fail_lost(bf_redis_whole(f), err) : rc < 0 ? rc : 0;
}

int bf_redis_window_open(bf_filter *f, int64_t *epoch, bool past, bf_error *err)
{
    for (int tries = 0; tries < BF_REDIS_TRIES; tries++) {
        int64_t now = *epoch;
        int rc = bf_redis_window_list(f, &now, past && tries, err);
        if (!past) *epoch = now;
        bf_part *p = bf_window_part(f, *epoch);
        if (rc < 0 || bf_live(p->live) == *epoch || *epoch < now - (int64_t)f->desc.parts)
            return rc;
        if ((rc = make_epoch(f, p, *epoch, err)) < 0) return rc;
    }
    return too_fast(f, err);
}

int bf_redis_window_create(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    bf_conn *l = whole->conn;
    long long v = -1;
    if (d->g.m > BF_REDIS_M_MAX)
        return bf_fail(err, BF_EINVAL,
            "a part of m=%llu bits does not fit one Redis key (at most %llu)",
            (unsigned long long)d->g.m, (unsigned long long)BF_REDIS_M_MAX);
    int rc = bf_chain_begin(f, spec, err);
    if (rc < 0) return rc;
    {
        BF_REDIS_LOCK(whole);
        bf_conn_begin(l, BF_WRITES);
        bf_conn_eval(l, bf_script_create, 2);
        bf_conn_append(l, "%s %s %s", whole->key, whole->meta, "");
        bf_redis_append_params(whole, &f->desc, f->desc.secret_check);
        whole->users_clock = f->own_clock;
        if (whole->users_clock) bf_conn_append(l, "clock own");
        rc = bf_conn_run_script(l, &v, err);
    }
    if (rc == 0 && v == 1) return (rc = bf_redis_window_ring(f, err)) < 0 ? rc : 1;
    if (rc == 0) bf_chain_free(f);
    return rc;
}
