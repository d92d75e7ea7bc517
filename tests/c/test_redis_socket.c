/* test_redis_socket.c - the first commands of a round trip that only reads are sent while the
 * others are written: the answers are right if that round trip is given up, if the connection ends
 * in between, and in batches of any size.  It starts its own server.  About core/redis/socket.c. */
#define _GNU_SOURCE
#include "../../core/redis/redis.h"
#include "check.h"
#include "redis_filters.h"

enum { KEYS = 5000, COMMANDS = 2000 };
static char texts[2 * KEYS][16];
static bf_key keys[2 * KEYS]; /* the first half is in the filter */
static uint8_t each[2 * KEYS];

static bf_filter *filled(void)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = OPEN("ahead", .n = 2 * KEYS, .p = 1e-9);
    for (int i = 0; i < 2 * KEYS; i++)
        keys[i] = (bf_key){ texts[i], (size_t)snprintf(texts[i], sizeof *texts, "key %d", i) };
    CHECK_EQ(bf_add_many(f, keys, KEYS, NULL, &e), KEYS);
    return f;
}

static void right(bf_filter *f, size_t n)
{
    CHECK_EQ(bf_test_many(f, keys + KEYS - n / 2, n, each, &e), (int64_t)(n / 2));
    for (size_t i = 0; i < n; i++) CHECK_EQ(each[i], i < n / 2);
}

static bf_conn *half_sent(bf_filter *f)
{
    bf_redis *r = f->bitmap.store.impl;
    CHECK(bf_redis_lock(r, &e));
    bf_conn_begin(r->conn, BF_READS);
    for (int i = 0; i < COMMANDS; i++)
        bf_conn_command(r->conn, "GETRANGE %s %n %n", r->key, (uint64_t)0, (uint64_t)i % 64);
    CHECK(r->conn->socket->ahead > 0);
    CHECK(r->conn->socket->ahead < r->conn->out_len);
    return r->conn;
}

TEST(batches_of_any_size)
{
    bf_filter *f = filled();
    for (size_t n = 2; n <= 2 * KEYS; n = n * 3 / 2 + 2) right(f, n - n % 2);
    bf_close(f);
}

TEST(a_round_trip_that_is_given_up)
{
    bf_filter *f = filled();
    for (int i = 0; i < 3; i++) {
        bf_conn_unlock(half_sent(f));
        CHECK_EQ(bf_test(f, keys[i].ptr, keys[i].len, &e), 1);
        CHECK_EQ(bf_test(f, keys[KEYS + i].ptr, keys[KEYS + i].len, &e), 0);
        bf_conn_unlock(half_sent(f));
        right(f, 1000);
    }
    bf_close(f);
}

TEST(a_connection_that_ends_in_between)
{
    bf_filter *f = filled();
    bf_conn *l = half_sent(f);
    rs_command(&redis, "CLIENT KILL TYPE normal");
    CHECK_EQ(bf_conn_exchange(l, &e), 0);
    for (int i = 0; i < COMMANDS; i++) {
        size_t len = 0;
        bf_conn_next(l);
        CHECK(bf_reply_only_text(&l->reply, &len));
        CHECK_EQ(len, (size_t)i % 64 + 1);
    }
    bf_conn_unlock(l);
    right(f, 1000);
    bf_close(f);
}

int main(void) { return main_with_redis(&redis); }
