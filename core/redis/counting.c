/* counting.c - counters in a Redis string: a batch of positions as one trip, and the sum with
 * counters of memory.
 *
 *   add      BITFIELD K OVERFLOW SAT INCRBY u4 #p1 1 ...    a key: Redis counts up at once and tells what came of it
 *   test     GETRANGE K line                                per line of 512 counters is 256 bytes; elsewhere
 *   count    BITFIELD_RO K GET u4 #p1 ...
 *   remove   EVAL script K ...                              KEYS_A_SCRIPT keys: each looked at and counted down at once
 *   mark     GET u32 in the last BITFIELD, one more GETRANGE, or in the script: see store.c
 *
 * A script does nothing where it does not find the mark, so it may be sent again.  Counters at 15
 * are never counted down. */
#include "parts/filter.h"
#include "bits/bits.h"
#include "redis/redis.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, LINE_BYTES = 256, KEYS_A_SCRIPT = 50, SCRIPT_POSITIONS = 1500, SUMS = 250 };

/* ARGV: where the mark is, the mark, then for each key how many positions and the positions.
 * Answers 1 or 0 a key, or -1. */
static const char remove_[] =
    "local m=redis.call('GETRANGE',KEYS[1],ARGV[1],ARGV[1]+3) "
    "m=#m==4 and string.format('%02x%02x%02x%02x',m:byte(1,4)) or '00000000' if m~=ARGV[2] then return {-1} end "
    "local at,out=3,{} while at<=#ARGV do local n,get=tonumber(ARGV[at]),{'BITFIELD',KEYS[1]} "
    "for i=at+1,at+n do get[#get+1]='GET' get[#get+1]='u4' get[#get+1]='#'..ARGV[i] end "
    "local v,there,down=redis.call(unpack(get)),1,{'BITFIELD',KEYS[1]} "
    "for i=1,n do if v[i]==0 then there=0 elseif v[i]<15 then "
    "down[#down+1]='INCRBY' down[#down+1]='u4' down[#down+1]='#'..ARGV[at+i] down[#down+1]='-1' end end "
    "if there==1 and #down>2 then redis.call(unpack(down)) end out[#out+1]=there at=at+n+1 end return out";

/* After an add that met a lost key: takes back what it counted up, unless there is a sound filter
 * by now.  ARGV: where the mark is, then each position and how often. */
static const char undo[] =
    "local n=tonumber(redis.call('HGET',KEYS[2],'m') or '') if n then ARGV[1]=math.floor((4*n+31)/32)*4 end "
    "local want=redis.call('HGET',KEYS[2],'mark') local m=redis.call('GETRANGE',KEYS[1],ARGV[1],ARGV[1]+3) "
    "m=#m==4 and string.format('%02x%02x%02x%02x',m:byte(1,4)) or '00000000' if m~='00000000' and m==want then return 0 end "
    "for i=2,#ARGV,2 do redis.call('BITFIELD',KEYS[1],'OVERFLOW','SAT','INCRBY','u4','#'..ARGV[i],-ARGV[i+1]) end "
    "if redis.call('BITCOUNT',KEYS[1])==0 then redis.call('DEL',KEYS[1]) end return 1";

static void place(bf_link *l, uint64_t pos)
{
    char text[24] = "#";
    bf_link_arg(l, text, (size_t)(bf_redis_digits(text + 1, pos) - text));
}

static void put_mark(bf_redis *r)
{
    bf_link_word(r->link, "GET");
    bf_link_word(r->link, "u32");
    bf_link_number(r->link, r->mark_at * 8);
}

/* After a fault while something was to be changed: nobody knows. */
static int unsure(bf_redis *r, const char *done, int rc, bf_error *err)
{
    char what[48];
    if (rc >= 0 || !r->link->sent || !err || err->code != BF_EIO || !err->sys_errno) return rc;
    snprintf(what, sizeof what, "tell what was %s: no reply from", done);
    return bf_fail_sys(err, err->sys_errno, what, bf_redis_label(r));
}

/* ---- looking: the least counter of each key ---- */
/* How many of a key's positions are in one line: all, or it is asked by BITFIELD_RO, or by k
 * GETRANGEs of a byte. */
static bool one_line(const uint64_t *pos, unsigned k)
{
    for (unsigned i = 1; i < k; i++)
        if (pos[i] / LINE != pos[0] / LINE) return false;
    return true;
}

static void ask(bf_redis *r, const uint64_t *pos, unsigned k)
{
    bf_link *l = r->link;
    if (one_line(pos, k)) {
        bf_redis_put_range(r, pos[0] / LINE * LINE_BYTES, LINE_BYTES);
        return;
    }
    if (r->link->no_bitfield_ro) {
        for (unsigned i = 0; i < k; i++) bf_redis_put_range(r, pos[i] / 2, 1);
        return;
    }
    bf_link_count(l, 2 + 3 * (size_t)k);
    bf_link_allow(l, k, 0);
    bf_link_word(l, "BITFIELD_RO");
    bf_link_word(l, l->key);
    for (unsigned i = 0; i < k; i++) {
        bf_link_word(l, "GET");
        bf_link_word(l, "u4");
        place(l, pos[i]);
    }
}

static unsigned counter_in(const char *bytes, size_t len, uint64_t at)
{
    return at / 2 >= len ? 0 : at % 2 ? (uint8_t)bytes[at / 2] & 15 : (uint8_t)bytes[at / 2] >> 4;
}

/* Counter i of the key out of the reply that is there; -1: it is none. */
static int counter_told(const bf_redis *r, const uint64_t *pos, unsigned i, bool line)
{
    long long v;
    size_t len;
    if (!line && !r->link->no_bitfield_ro)
        return bf_reply_integer(&r->link->reply, i, &v) && v >= 0 && v <= BF_CELL_MAX ? (int)v : -1;
    const char *bytes = bf_reply_only_text(&r->link->reply, &len);
    if (!bytes || len > (line ? LINE_BYTES : 1)) return -1;
    return (int)counter_in(bytes, len, line ? pos[i] % LINE : pos[i] % 2);
}

typedef struct {
    int refused;
    bool unknown;
} faults;

static int next(bf_redis *r, faults *f, bf_error *err)
{
    char text[32];
    int rc = bf_link_next(r->link, err);
    if (rc < 0 || f->refused || !bf_reply_error(&r->link->reply, text, sizeof text)) return rc;
    f->unknown = !strncmp(text, "ERR unknown command", 19);
    f->refused = bf_link_refusal(r->link, err);
    return 0;
}

static int hear(
    bf_redis *r, const uint64_t *pos, unsigned k, uint8_t *least, faults *f, bf_error *err)
{
    const bool line = one_line(pos, k);
    int v = 0, rc = 0;
    *least = BF_CELL_MAX;
    for (unsigned i = 0; i < k; i++) {
        if ((i == 0 || (!line && r->link->no_bitfield_ro)) && (rc = next(r, f, err)) < 0) return rc;
        if (f->refused) continue;
        if ((v = counter_told(r, pos, i, line)) < 0) return bf_redis_nonsense(r, err);
        if (v < *least) *least = (uint8_t)v;
    }
    return 0;
}

static int look_once(bf_redis *r, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *least,
    uint32_t *mark, faults *f, bf_error *err)
{
    int rc = bf_link_begin(r->link, false, err);
    *f = (faults){ 0 };
    if (rc < 0) return rc;
    for (size_t i = 0; i < nkeys; i++) {
        ask(r, pos + i * k, k);
        bf_link_push(r->link);
    }
    bf_redis_put_range(r, r->mark_at, BF_REDIS_MARK);
    if ((rc = bf_link_send(r->link, err)) < 0) return rc;
    for (size_t i = 0; i < nkeys; i++)
        if ((rc = hear(r, pos + i * k, k, least + i, f, err)) < 0) return rc;
    if ((rc = next(r, f, err)) == 0) *mark = bf_redis_take_mark(r);
    return rc;
}

static int look(
    bf_redis *r, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *least, bf_error *err)
{
    bool changed = true, retried = false;
    faults f;
    uint32_t mark = 0;
    for (int i = 0; changed && i < 10; i++) {
        int rc = look_once(r, pos, nkeys, k, least, &mark, &f, err);
        if (rc < 0 && !retried && !r->link->fresh && !r->link->timed_out) {
            retried = true;
            continue;
        }
        if (rc < 0) return rc;
        if (f.unknown && !r->link->no_bitfield_ro) {
            r->link->no_bitfield_ro = true;
            continue;
        }
        if (f.refused) return f.refused;
        if ((rc = bf_redis_follow(r, mark, &changed, err)) < 0) return rc;
    }
    return changed ? bf_fail(err, BF_EIO, "%s is re-created too often: no reply", bf_redis_label(r))
                   : 0;
}

/* ---- counting up ---- */
static void put_undo(bf_redis *r, const uint64_t *pos, const uint8_t *by, size_t n)
{
    bf_link *l = r->link;
    bf_link_count(l, 6 + 2 * n);
    bf_link_word(l, "EVAL");
    bf_link_word(l, undo);
    bf_link_word(l, "2");
    bf_link_word(l, l->key);
    bf_link_word(l, r->meta);
    bf_link_number(l, r->mark_at);
    for (size_t i = 0; i < n; i++) {
        bf_link_number(l, pos[i]);
        bf_link_number(l, by ? by[i] : 1);
    }
    bf_link_finish(l, 1, NULL);
}

/* pos: n positions, counted up by by[i] each, or by 1 where by is NULL; the same for put_undo. */
static void put_sum(bf_redis *r, const uint64_t *pos, const uint8_t *by, size_t n, bool with_mark)
{
    bf_link *l = r->link;
    bf_link_count(l, 4 + 4 * n + (with_mark ? 3 : 0));
    bf_link_allow(l, n + with_mark, 0);
    bf_link_word(l, "BITFIELD");
    bf_link_word(l, l->key);
    bf_link_word(l, "OVERFLOW");
    bf_link_word(l, "SAT");
    for (size_t i = 0; i < n; i++) {
        bf_link_word(l, "INCRBY");
        bf_link_word(l, "u4");
        place(l, pos[i]);
        bf_link_number(l, by ? by[i] : 1);
    }
    if (with_mark) put_mark(r);
}

/* The reply to put_sum; *least: the least that came of it. */
static int take_sum(bf_redis *r, size_t n, bool with_mark, unsigned *least, uint32_t *mark,
    faults *f, bf_error *err)
{
    long long v;
    int rc = next(r, f, err);
    if (rc < 0 || f->refused) return rc;
    if (r->link->reply.n != n + with_mark) return bf_redis_nonsense(r, err);
    *least = BF_CELL_MAX;
    for (size_t i = 0; i < n; i++) {
        if (!bf_reply_integer(&r->link->reply, i, &v) || v < 0 || v > BF_CELL_MAX)
            return bf_redis_nonsense(r, err);
        if ((unsigned)v < *least) *least = (unsigned)v;
    }
    if (!with_mark) return 0;
    if (!bf_reply_integer(&r->link->reply, n, &v)) return bf_redis_nonsense(r, err);
    *mark = (uint32_t)v;
    return 0;
}

/* What met a lost key: its stub goes again, so that nobody takes it for a filter. */
static int follow_or_undo(
    bf_redis *r, uint32_t mark, const uint64_t *pos, const uint8_t *by, size_t n, bf_error *err)
{
    bool changed;
    r->note = BF_SENT_IN;
    int rc = bf_redis_follow(r, mark, &changed, err);
    r->note = NULL;
    if (rc < 0 && !changed && r->link->stands && bf_link_begin(r->link, false, NULL) == 0)
        put_undo(r, pos, by, n);
    return rc;
}

static int add_trip(bf_redis *r, const uint64_t *pos, const unsigned *each, size_t nkeys,
    uint8_t *present, uint32_t *mark, faults *f, bf_error *err)
{
    const uint64_t *at = pos;
    unsigned least = 0;
    int rc = bf_link_begin(r->link, true, err);
    if (rc < 0) return rc;
    for (size_t i = 0; i < nkeys; at += each[i++]) {
        put_sum(r, at, NULL, each[i], i + 1 == nkeys);
        bf_link_push(r->link);
    }
    if ((rc = bf_link_send(r->link, err)) < 0) return rc;
    for (size_t i = 0; i < nkeys; i++) {
        if ((rc = take_sum(r, each[i], i + 1 == nkeys, &least, mark, f, err)) < 0) return rc;
        present[i] = least > 1;
    }
    return 0;
}

/* ---- counting down ---- */
/* How many keys go into one script. */
static size_t share(const unsigned *each, size_t nkeys)
{
    size_t n = 0, positions = 0;
    while (n < nkeys && n < KEYS_A_SCRIPT && (n == 0 || positions + each[n] <= SCRIPT_POSITIONS))
        positions += each[n++];
    return n;
}

static void put_remove(bf_redis *r, const uint64_t *pos, const unsigned *each, size_t nkeys)
{
    bf_link *l = r->link;
    char hex[16];
    size_t args = 0;
    for (size_t i = 0; i < nkeys; i++) args += 1 + each[i];
    snprintf(hex, sizeof hex, "%08lx", (unsigned long)r->mark);
    bf_link_count(l, 6 + args);
    bf_link_allow(l, nkeys, 0);
    bf_link_word(l, "EVAL");
    bf_link_word(l, remove_);
    bf_link_word(l, "1");
    bf_link_word(l, l->key);
    bf_link_number(l, r->mark_at);
    bf_link_word(l, hex);
    for (size_t i = 0; i < nkeys; i++) {
        bf_link_number(l, each[i]);
        for (unsigned j = 0; j < each[i]; j++) bf_link_number(l, *pos++);
    }
}

/* 1 done, 0 the mark is another: nothing was done. */
static int remove_some(bf_redis *r, const uint64_t *pos, const unsigned *each, size_t nkeys,
    uint8_t *removed, bf_error *err)
{
    long long v;
    int rc = bf_link_begin(r->link, true, err);
    if (rc < 0) return rc;
    put_remove(r, pos, each, nkeys);
    if ((rc = bf_link_finish(r->link, 1, err)) < 0) return unsure(r, "removed", rc, err);
    if (bf_reply_integer(&r->link->reply, 0, &v) && v == -1) return 0;
    if (r->link->reply.n != nkeys) return bf_redis_nonsense(r, err);
    for (size_t i = 0; i < nkeys; i++) {
        if (!bf_reply_integer(&r->link->reply, i, &v) || v < 0 || v > 1)
            return bf_redis_nonsense(r, err);
        removed[i] = v == 1;
    }
    return 1;
}

static int remove_all(bf_redis *r, const uint64_t *pos, const unsigned *each, size_t nkeys,
    uint8_t *removed, bf_error *err)
{
    int tries = 0;
    while (nkeys) {
        size_t n = share(each, nkeys);
        uint32_t mark;
        bool changed;
        int rc = remove_some(r, pos, each, n, removed, err);
        if (rc == 0 && ++tries > 10)
            rc = bf_fail(err, BF_EIO, "%s is re-created too often: no reply", bf_redis_label(r));
        if (rc == 0 && (rc = bf_redis_mark(r, &mark, err)) == 0 &&
            (rc = bf_redis_follow(r, mark, &changed, err)) == 0)
            continue;
        if (rc < 0) return rc;
        for (size_t i = 0; i < n; i++) pos += each[i];
        each += n;
        removed += n;
        nkeys -= n;
    }
    return 0;
}

/* ---- the store's apply ---- */
/* Each key's positions once, moved together; how many each has goes to `each`. */
static size_t squeeze(uint64_t *pos, size_t nkeys, unsigned k, unsigned *each)
{
    size_t used = 0;
    for (size_t i = 0; i < nkeys; i++) {
        each[i] = bf_counters_distinct(pos + i * k, k);
        memmove(pos + used, pos + i * k, each[i] * sizeof *pos);
        used += each[i];
    }
    return used;
}

static int change(bf_redis *r, int op, const uint64_t *given, size_t nkeys, unsigned k,
    uint8_t *answer, bf_error *err)
{
    uint64_t *pos = malloc(nkeys * k * sizeof *pos);
    unsigned *each = malloc(nkeys * sizeof *each);
    uint32_t mark = 0;
    faults f = { 0 };
    int rc = pos && each ? 0 : bf_fail(err, BF_ENOMEM, "out of memory");
    if (rc == 0) {
        memcpy(pos, given, nkeys * k * sizeof *pos);
        size_t used = squeeze(pos, nkeys, k, each);
        if (op == BF_OP_REMOVE)
            rc = remove_all(r, pos, each, nkeys, answer, err);
        else if ((rc = add_trip(r, pos, each, nkeys, answer, &mark, &f, err)) < 0)
            rc = unsure(r, "added", rc, err);
        else if (f.refused)
            rc = f.refused;
        else
            rc = follow_or_undo(r, mark, pos, NULL, used, err);
    }
    free(pos);
    free(each);
    return rc;
}

int bf_redis_count_apply(bf_redis *r, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *answer, bf_error *err)
{
    if (op == BF_OP_ADD || op == BF_OP_REMOVE) return change(r, op, pos, nkeys, k, answer, err);
    int rc = look(r, pos, nkeys, k, answer, err);
    for (size_t i = 0; rc == 0 && op == BF_OP_TEST && i < nkeys; i++) answer[i] = answer[i] > 0;
    return rc;
}

/* ---- the sum with counters of memory ---- */
/* The next counters above 0, from *at on. */
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

/* Each trip is one command and so at once; a fault in between leaves a part of the sum, which the
 * error says. */
int bf_redis_count_unite(bf_redis *r, const uint64_t *words, bf_error *err)
{
    uint64_t pos[SUMS], at = 0;
    uint8_t by[SUMS + 1];
    int rc = 0;
    for (size_t n; rc == 0 && (n = gather(words, r->desc.g.m, &at, pos, by));) {
        unsigned least;
        uint32_t mark = 0;
        faults f = { 0 };
        if ((rc = bf_link_begin(r->link, true, err)) < 0) break;
        put_sum(r, pos, by, n, true);
        if ((rc = bf_link_send(r->link, err)) == 0)
            rc = take_sum(r, n, true, &least, &mark, &f, err);
        rc = rc < 0      ? unsure(r, "added", rc, err)
             : f.refused ? f.refused
                         : follow_or_undo(r, mark, pos, by, n, err);
    }
    return rc;
}
