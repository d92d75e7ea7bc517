/* scandump.c - moves filters between memory and the module RedisBloom: reads them by BF.SCANDUMP,
 * and loads them by BF.LOADCHUNK under a temporary name. redisbloom.c knows the bytes. */
#include "parts/parts.h"
#include "redis/connection.h"
#include "sets/sets.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MOST = 1 << 14, KEPT_MS = 3600 * 1000 };

/* ---- the connection ---- */
static int open_module(bf_conn *l, const bf_spec *place, bf_error *err)
{
    const bf_store_ops *ops = bf_find_store(place, err);
    if (!ops) return BF_EINVAL;
    if (strcmp(ops->name, "redis") != 0)
        return bf_fail(err, BF_EINVAL,
            "storage must be a server with the module RedisBloom, as a URL (redis://...) or a "
            "client, got %.60s",
            place->storage ? place->storage : "none");
    int rc = bf_check_before_open(place, err);
    if (rc < 0 || (rc = bf_conn_open(l, place, err)) < 0) return rc;
    if ((rc = bf_conn_lock(l, err)) < 0) bf_conn_free(l);
    return rc;
}

static void close_module(bf_conn *l)
{
    bf_conn_unlock(l);
    bf_conn_free(l);
}

/* Sends the commands. Returns the first error reply as an error, with the codes of the causes that
 * a caller can act on. */
static int finish(bf_conn *l, bf_error *err)
{
    char text[72];
    const int rc = bf_conn_finish(l, err);
    if (rc == 0 || !bf_reply_error(&l->reply, text, sizeof text)) return rc;
    if (strstr(text, "unknown command"))
        return bf_fail(err, BF_ENOTSUP, "%s: the server lacks the module RedisBloom", l->label);
    return strstr(text, "not found") ? bf_fail(err, BF_ENOENT, "%s does not exist", l->label) : rc;
}

/* ---- reading ---- */
/* Reads the piece of this iterator, at most `most` bytes. The text is valid until the next call. */
static int dump(
    bf_conn *l, uint64_t iterator, uint64_t most, const char **data, size_t *len, bf_error *err)
{
    long long next = 0;
    bf_conn_begin(l, BF_READS);
    bf_conn_command(l, "BF.SCANDUMP %s %n", l->key, iterator);
    bf_conn_expect(l, 2, (size_t)most);
    const int rc = finish(l, err);
    if (rc < 0) return rc;
    *data = bf_reply_text(&l->reply, 1, len);
    if (bf_reply_integer(&l->reply, 0, &next) && *data && *len && *len <= most &&
        next == (long long)(iterator ? iterator + *len : 1))
        return 0;
    return bf_fail(err, next == 0 && iterator ? BF_EBUSY : BF_EFORMAT,
        "%s: unexpected reply to BF.SCANDUMP %llu", l->label, (ull)iterator);
}

typedef struct {
    uint8_t *bytes;
    size_t head;
    uint64_t len;
} image;

static int read_pieces(bf_conn *l, image *to, bf_error *err)
{
    const char *data;
    size_t len;
    int rc = dump(l, 0, HEADER_MOST, &data, &to->head, err);
    const int64_t all = rc < 0 ? rc : bf_redisbloom_length(data, to->head, err);
    if (all < 0) return (int)all;
    to->len = (uint64_t)all;
    if (to->len > SIZE_MAX || !(to->bytes = malloc((size_t)to->len)))
        return bf_fail(err, BF_ENOMEM, "memory cannot hold %lld bytes", (long long)all);
    memcpy(to->bytes, data, to->head);
    for (uint64_t at = to->head; at < to->len; at += len) {
        const uint64_t left = to->len - at;
        rc = dump(l, at - to->head + 1, left < BF_REDISBLOOM_PIECE ? left : BF_REDISBLOOM_PIECE,
            &data, &len, err);
        if (rc < 0) return rc;
        memcpy(to->bytes + at, data, len);
    }
    if ((rc = dump(l, 0, HEADER_MOST, &data, &len, err)) < 0) return rc;
    if (len == to->head && memcmp(data, to->bytes, len) == 0) return 0;
    return bf_fail(
        err, BF_EBUSY, "%s was changed while it was read: stop its writers first", l->label);
}

bf_filter *bf_from_redisbloom(const bf_spec *from, bf_error *err)
{
    bf_conn l = { 0 };
    image read = { 0 };
    bf_filter *f = NULL;
    bf_spec expect = *from;
    if (open_module(&l, from, err) < 0) return NULL;
    const int rc = read_pieces(&l, &read, err);
    close_module(&l);
    expect.storage = expect.key = NULL;
    expect.redis_client = NULL;
    expect.timeout = expect.retry_after = 0;
    if (rc == 0) f = bf_redisbloom_read(read.bytes, (size_t)read.len, &expect, err);
    free(read.bytes);
    return f;
}

/* ---- writing ---- */
/* Returns a new name, in a cluster one in the slot of the key. */
static char *temporary_name(const bf_conn *l)
{
    const size_t cap = strlen(l->key) + 32;
    const bool braces = l->client->cluster && !strchr(l->key, '{');
    char *name = malloc(cap);
    if (name)
        snprintf(name, cap, braces ? "{%s}:%016llx" : "%s:%016llx", l->key, (ull)bf_random64());
    return name;
}

static int fail_exists(const bf_conn *l, bf_error *err)
{
    bf_fail(err, BF_EIO, "%s exists: delete it, or use another key", l->label);
    if (err) err->sys_errno = EEXIST;
    return BF_EIO;
}

/* The temporary key expires if this process does not complete the filter. */
static int load(
    bf_conn *l, const char *name, uint64_t iterator, const uint8_t *data, size_t len, bf_error *err)
{
    bf_conn_begin(l, BF_WRITES);
    bf_conn_command(l, "BF.LOADCHUNK %s %n %b", name, iterator, data, len);
    bf_conn_command(l, "PEXPIRE %s %n", name, (uint64_t)KEPT_MS);
    return finish(l, err);
}

static int load_pieces(bf_conn *l, const char *name, const image *from, bf_error *err)
{
    bf_range piece;
    uint64_t iterator = 1;
    int rc = load(l, name, 1, from->bytes, from->head, err);
    while (rc == 0 && bf_redisbloom_piece(from->bytes, from->head, iterator, &piece) > 0) {
        iterator += piece.len;
        rc = load(l, name, iterator, from->bytes + piece.from, (size_t)piece.len, err);
    }
    return rc;
}

static int upload(bf_conn *l, const char *name, const image *from, bf_error *err)
{
    long long there = 0;
    int rc = bf_conn_query(l, err, "EXISTS %s", l->key);
    if (rc == 0 && bf_reply_integer(&l->reply, 0, &there) && there) return fail_exists(l, err);
    if (rc == 0) rc = load_pieces(l, name, from, err);
    if (rc < 0) return rc;
    bf_conn_begin(l, BF_WRITES);
    bf_conn_command(l, "PERSIST %s", name);
    bf_conn_command(l, "RENAMENX %s %s", name, l->key);
    rc = finish(l, err);
    if (rc == 0 && (!bf_reply_integer(&l->reply, 0, &there) || !there)) return fail_exists(l, err);
    return rc;
}

static int upload_as_temporary(bf_conn *l, const image *from, bf_error *err)
{
    char *name = temporary_name(l);
    if (!name) return bf_fail(err, BF_ENOMEM, "out of memory");
    const int rc = upload(l, name, from, err);
    if (rc < 0) { /* the first error is the one to report */
        bf_conn_begin(l, BF_WRITES);
        bf_conn_command(l, "DEL %s", name);
        bf_conn_finish(l, NULL);
    }
    free(name);
    return rc;
}

int bf_to_redisbloom(bf_filter *f, const bf_spec *to, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    bf_conn l = { 0 };
    image made = { 0 };
    const int64_t len = bf_redisbloom_bytes(f, err);
    if (len < 0) return (int)len;
    made.len = (uint64_t)len;
    if (made.len > SIZE_MAX || !(made.bytes = calloc(1, (size_t)made.len)))
        return bf_fail(err, BF_ENOMEM, "memory cannot hold %lld bytes", (long long)len);
    int rc = bf_redisbloom_write(f, made.bytes, made.len, err);
    made.head = bf_redisbloom_head(made.bytes);
    if (rc == 0 && (rc = open_module(&l, to, err)) == 0) {
        rc = upload_as_temporary(&l, &made, err);
        close_module(&l);
    }
    free(made.bytes);
    return rc;
}
