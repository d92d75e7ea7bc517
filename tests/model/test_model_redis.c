/* test_model_redis.c - filters in Redis, under every interleaving of the commands of three clients,
 * each with its own handle: adds, tests, opens, appended parts, new epochs, clear, deletion,
 * re-creation, rename; counters.  The very code of the core and its scripts, in a real
 * redis-server; a step is a command, because no server promises that a pipeline is one moment.
 * Redis's clock is the model's. It starts its own server. */
/* wraps: bf_chain_part bf_chain_part_possible nanosleep */
#define _GNU_SOURCE
#include "forgetting.h"
#include "growing.h"
#include "redis_client.h"
#include "redis_filters.h"
#include <sys/un.h>

enum { BITS = 512, OLD = KEYS - 1 };
static const char K[] = "K", L[] = "L"; /* the filter; the name that RENAME gives it */

/* ---- filters ---- */
REPLACED(int, nanosleep, (const struct timespec *time, struct timespec *left))
{
    return model.running < 0 ? __real_nanosleep(time, left) : 0;
}
static bf_spec spec; /* of the filter */
static bf_filter *opened_now(const char *key, bool create, bf_error *err)
{
    bf_spec s = create ? spec : (bf_spec){ .must_exist = true, .counting = spec.counting };
    s.key = key;
    s.redis_client = &client;
    return bf_open(&s, err);
}

/* What a user does who knows Redis only: both keys, in two steps.  And a constructor; and a handle
 * that is opened, tests a key and is closed. */
static int redis_call(const call *c)
{
    static const char *const suffix[] = { "", ":meta" };
    for (int i = 0; c->op < CREATE && i < 2; i++) {
        model_pause(&shared, true, false);
        if (c->op == DELETE)
            rs_command(&redis, "DEL %s%s", K, suffix[i]);
        else
            rs_command(&redis, "RENAME %s%s %s%s", K, suffix[i], L, suffix[i]);
    }
    bf_error err = { 0 };
    bf_filter *own = c->op >= CREATE ? opened_now(K, c->op == CREATE, &err) : NULL;
    const int rc = own && c->op == OPEN ? has_key(own, c->key) : err.code;
    bf_close(own);
    return rc;
}

/* Keys of two bits that have none in common, neither in the first part nor in the newest one of
 * `grown`. There both of key 0 are among the first 32, which were the mark; returns that mark. */
static uint32_t find_disjoint_keys(bf_filter *first, bf_filter *grown)
{
    uint64_t bits[2][2 * KEYS], mark_at = spec.grow ? bf_parts_newest(grown)->start : 0;
    for (unsigned n = 0, i = 0; n < KEYS; i++) {
        bool good = true;
        snprintf(names[n], sizeof names[n], "k%u", i);
        for (int part = 0; part < 2; part++) {
            uint64_t *pos = bits[part] + 2 * n;
            bf_hashcode(part ? grown : first, names[n], strlen(names[n]), pos, 2, NULL);
            good &= pos[0] != pos[1];
            if (n == 0 && part) good &= pos[0] - mark_at < 32 && pos[1] - mark_at < 32;
            for (uint64_t *t = bits[part]; t < pos; t++) good &= *t != pos[0] && *t != pos[1];
        }
        n += good;
    }
    return 0x80000000 >> (bits[1][0] - mark_at) | 0x80000000 >> (bits[1][1] - mark_at);
}

/* The filter that is there before the threads begin is under T: with key OLD. In a second part key
 * 0 sets the bits that were its mark. */
static void set_up(bf_spec of, unsigned keys)
{
    spec = of;
    room = of.n ? (unsigned)of.n : 1;
    protocol = RIGHT;
    clock_of_verdict = THEN;
    rs_command(&redis, "FLUSHALL");
    bf_filter *t = opened_now("T", true, &e);
    bf_filter *grown = opened_now("U", true, &e);
    for (int i = 0; spec.grow && bf_parts_count(grown) < 2; i++) bf_add(grown, &i, sizeof i, &e);
    bf_filter *here[2] = { bf_copy(t, &e), bf_copy(grown, &e) };
    const uint32_t mark = find_disjoint_keys(here[0], here[1]);
    CLOSE(t, grown, here[0], here[1]);
    const long at = rs_number(&redis, "STRLEN T") - 4;
    rs_command(&redis, "BITFIELD T SET u32 %ld %u", at * 8, mark);
    rs_command(&redis, "HSET T:meta mark %08x born %08x", mark, mark);
    t = opened_now("T", false, &e);
    if ((old_keys = keys)) CHECK_EQ(add_key(t, OLD), BF_ADDED);
    bf_close(t);
}

static void fresh(void)
{
    CLOSE(f, handle[0], handle[1], handle[2]);
    rs_command(&redis,
        "EVAL \"redis.call('DEL', '%s', '%s:meta') redis.call('COPY', 'T', '%s', 'REPLACE')"
        "redis.call('COPY', 'T:meta', '%s:meta', 'REPLACE')\" 0",
        L, L, K, K);
    clock_of_all = clock_of_verdict = THEN;
    for (int t = 0; t < 3; t++) handle[t] = (*chosen)[t][0].op ? opened_now(K, false, &e) : NULL;
    f = NULL;
    begin_calls(chosen);
}

static const bf_spec fixed = { .m = BITS, .k = 2, .scheme = "classic" },
                     growing = { .n = 1, .p = 0.1, .k = 2, .scheme = "classic", .grow = 2 },
                     forgetting = { .n = 1,
                         .p = 0.1,
                         .k = 2,
                         .scheme = "classic",
                         .window = 4,
                         .parts = 2 },
                     counting = { .m = BITS / 4, .k = 2, .scheme = "classic", .counting = true };

/* ---- opening ---- */
static bool plan_has(int op)
{
    EACH_CALL(t, i) if ((*doing)[t][i].op == op) return true;
    return false;
}
/* Who opens while others act finds what is there; or a loss, where there may be one. */
static bool opened_what_is_there(void)
{
    EACH_CALL(t, i)
    {
        const int rc = out[t][i].rc;
        const bool gone = rc == BF_ENOENT || rc == BF_EIO || (rc == 0 && plan_has(CREATE));
        if ((*doing)[t][i].op == OPEN && rc != 1 && !(gone && plan_has(DELETE))) return false;
    }
    return true;
}

/* ---- growing ---- */
static bool grows(void)
{
    f = opened_now(K, false, &e);
    return f && growing_promises() && opened_what_is_there();
}

static const plan one_key = { { { ADD, 0, 0 } }, { { ADD, 0, 0 } } },
                  two_keys = { { { ADD, 0, 0 } }, { { ADD, 1, 0 } } },
                  three_keys = { { { ADD, 0, 0 } }, { { ADD, 1, 0 } }, { { ADD, 2, 0 } } },
                  again = { { { ADD, 0, 0 }, { ADD, 1, 0 } }, { { ADD, 1, 0 }, { ADD, 0, 0 } } },
                  add_and_test = { { { ADD, 0, 0 } }, { { TEST, 0, 0 } }, { { ADD, 1, 0 } } },
                  two_tests = { { { ADD, 0, 0 } }, { { TEST, OLD, 0 } }, { { TEST, 0, 0 } } },
                  batches = { { { ADD_BOTH, 0, 0 } }, { { ADD_BOTH, 0, 0 } } },
                  open_and_append = { { { OPEN, OLD, 0 } }, { { ADD, 0, 0 } } };

TEST(parts_are_appended_beside_adds_and_tests)
{
    set_up(growing, 0);
    KEPT("three_keys", three_keys, fresh, grows);
    KEPT("add_and_test", add_and_test, fresh, grows);
    KEPT("again", again, fresh, grows);
    set_up(growing, 1); /* the next key needs a part; three clients: 24,000 */
    KEPT("one_key, full", one_key, fresh, grows);
    KEPT("two_keys, full", two_keys, fresh, grows);
    KEPT("two_tests, full", two_tests, fresh, grows);
    KEPT("batches, full", batches, fresh, grows);
    KEPT("open_and_append, full", open_and_append, fresh, grows);
}

/* ---- clear ---- */
static bool cleared(void)
{
    f = opened_now(K, false, &e);
    if (!f || !no_errors() || has_key(f, OLD) != 0) return false;
    EACH_CALL(t, i)
    if ((*doing)[t][i].op == TEST && out[t][i].rc != ((*doing)[t][i].key != OLD)) return false;
    return add_key(f, 2) >= 0 && has_key(f, 2) == 1;
}
static const plan clear_and_add = { { { ADD, 0, 0 } },
    { { CLEAR, 0, 0 }, { ADD, 1, 0 }, { TEST, 1, 0 } } },
                  clear_and_test = { { { ADD, 0, 0 }, { ADD, 1, 0 } },
                      { { CLEAR, 0, 0 }, { TEST, OLD, 0 } } },
                  clear_and_open = { { { OPEN, OLD, 0 } }, { { CLEAR, 0, 0 } } },
                  clear_and_append = { { { ADD, 0, 0 } }, { { CLEAR, 0, 0 }, { TEST, OLD, 0 } } },
                  two_clears = { { { CLEAR, 0, 0 } }, { { CLEAR, 0, 0 }, { TEST, OLD, 0 } } };

/* ---- deletion, re-creation, rename, by commands of Redis ---- */
/* Had this handle an error before call (t, i)? Then it may use another filter. */
static bool knows_of_loss(int t, int i)
{
    while (i-- > 0)
        if (out[t][i].rc < 0) return true;
    return false;
}
static bool is_in(bf_filter *there, int key) { return there && has_key(there, key) == 1; }
static bool lost_is_an_error(void)
{
    EACH_CALL(t, i)
    {
        const call *c = &(*doing)[t][i];
        const int rc = out[t][i].rc;
        if (c->op == TEST && c->key == OLD && rc == 0 && !knows_of_loss(t, i)) return false;
        if (c->op == CREATE && rc < 0) return false;
        if ((c->op == TEST || c->op == ADD) && rc < 0 && rc != BF_EIO) return false;
    }
    bf_filter *under_k = opened_now(K, false, NULL), *under_l = opened_now(L, false, NULL);
    bool right = !plan_has(RENAME) || is_in(under_l, OLD);
    for (int key = 0; key < OLD; key++) {
        bool added = false, failed = false;
        EACH_CALL(t, i) if (adds(&(*doing)[t][i], key))
        {
            added |= out[t][i].rc >= 0;
            failed |= out[t][i].rc < 0;
        }
        if (!added && !failed) continue;
        const bool there = is_in(under_k, key) || is_in(under_l, key);
        right &= !(added && !there && !plan_has(DELETE)) && !(failed && !added && there);
    }
    CLOSE(under_k, under_l);
    return right && opened_what_is_there() &&
           rs_number(&redis, "EXISTS %s %s:meta", K, K) == (plan_has(CREATE) ? 2 : 0);
}
static const plan deleted = { { { ADD, 0, 0 } }, { { DELETE, 0, 0 } }, { { TEST, OLD, 0 } } },
                  opened_and_deleted = { { { OPEN, OLD, 0 } }, { { DELETE, 0, 0 } } },
                  opened_and_created = { { { OPEN, OLD, 0 }, { OPEN, OLD, 0 } },
                      { { DELETE, 0, 0 }, { CREATE, 0, 0 } } },
                  created = { { { DELETE, 0, 0 }, { CREATE, 0, 0 } },
                      { { TEST, OLD, 0 }, { TEST, OLD, 0 } } },
                  created_and_added = { { { DELETE, 0, 0 }, { CREATE, 0, 0 } },
                      { { ADD, 0, 0 }, { ADD, 0, 0 } } },
                  renamed = { { { ADD, 0, 0 } }, { { RENAME, 0, 0 } }, { { TEST, OLD, 0 } } },
                  renamed_and_created = { { { RENAME, 0, 0 }, { CREATE, 0, 0 } },
                      { { ADD, 0, 0 }, { TEST, OLD, 0 } } };

#define LOST(p) KEPT(#p, p, fresh, lost_is_an_error)
static void lose(bf_spec of)
{
    set_up(of, 1);
    LOST(deleted);
    LOST(created);
    LOST(created_and_added);
    LOST(opened_and_deleted);
    LOST(opened_and_created);
    if (!of.window) { /* there a renamed filter is what a deleted one is */
        LOST(renamed);
        LOST(renamed_and_created);
    }
    KEPT("clear_and_add", clear_and_add, fresh, cleared);
    KEPT("clear_and_test", clear_and_test, fresh, cleared);
    KEPT("clear_and_open", clear_and_open, fresh, cleared);
    KEPT("two_clears", two_clears, fresh, cleared);
}
TEST(a_lost_fixed_filter_is_an_error) { lose(fixed); }
TEST(a_lost_counting_filter_is_an_error) /* its marks are those of fixed ones */
{
    set_up(counting, 1);
    LOST(deleted);
    LOST(created_and_added);
    KEPT("clear_and_add", clear_and_add, fresh, cleared);
}
TEST(a_lost_growing_filter_is_an_error)
{
    lose((bf_spec){ .n = 2, .p = 0.1, .k = 2, .scheme = "classic", .grow = 2 });
    set_up(growing, 1); /* the add appends a part */
    KEPT("created_and_added, full", created_and_added, fresh, lost_is_an_error);
    KEPT("clear_and_append", clear_and_append, fresh, cleared);
}
TEST(a_lost_forgetting_filter_is_an_error) { lose(forgetting); }

/* ---- counting ---- */
/* A counter has been raised by each add and lowered by each removal that was acknowledged. */
static bool counts(void)
{
    f = opened_now(K, false, &e);
    if (!f || !no_errors()) return false;
    for (int key = 0; key < KEYS; key++) {
        int n = key == OLD;
        EACH_CALL(t, i)
        {
            const call *c = &(*doing)[t][i];
            n += adds(c, key) - (c->op == REMOVE && c->key == key && out[t][i].rc == 1);
        }
        if (bf_count_of(f, names[key], strlen(names[key]), &e) != n) return false;
    }
    return true;
}
static const plan counted_twice = { { { ADD, 0, 0 }, { ADD, 1, 0 } }, { { ADD, 0, 0 } },
    { { ADD_BOTH, 0, 0 } } },
                  removed = { { { ADD, 0, 0 }, { REMOVE, 0, 0 } }, { { REMOVE, OLD, 0 } },
                      { { REMOVE, OLD, 0 } } },
                  removed_and_tested = { { { ADD, 0, 0 } }, { { REMOVE, 0, 0 } },
                      { { ADD, 0, 0 }, { TEST, 0, 0 } } };
TEST(no_step_of_a_counter_is_lost)
{
    set_up(counting, 1);
    KEPT("counted_twice", counted_twice, fresh, counts);
    KEPT("removed", removed, fresh, counts);
    KEPT("removed_and_tested", removed_and_tested, fresh, counts);
}

/* ---- forgetting ---- */
static bool forgets(void)
{
    f = opened_now(K, false, &e);
    return f && forgetting_promises() && opened_what_is_there();
}
static const plan turn = { { { ADD, 0, 0 }, { TEST, 0, 0 } },
    { { TICK, 0, THEN + 1 }, { ADD, 1, 0 }, { TEST, OLD, 0 } } },
                  two_turns = { { { TICK, 0, THEN + 1 }, { ADD, 0, 0 } },
                      { { TICK, 0, THEN + 2 }, { ADD, 1, 0 }, { TEST, OLD, 0 } } },
                  skipped = { { { ADD, 0, 0 } }, { { TICK, 0, THEN + 3 }, { ADD, 1, 0 } },
                      { { ADD, 0, 0 }, { TEST, 0, 0 } } },
                  turn_and_open = { { { OPEN, OLD, 0 } },
                      { { TICK, 0, THEN + 1 }, { ADD, 0, 0 } } },
                  back = { { { TICK, 0, THEN + 1 }, { TICK, 0, THEN } }, { { ADD, 0, 0 } },
                      { { ADD, 1, 0 }, { TEST, 0, 0 } } };
TEST(epochs_begin_beside_adds_and_tests)
{
    set_up(forgetting, 1);
    parts = 2;
    old_epoch = THEN;
    KEPT("turn", turn, fresh, forgets);
    KEPT("two_turns", two_turns, fresh, forgets);
    KEPT("skipped", skipped, fresh, forgets);
    KEPT("turn_and_open", turn_and_open, fresh, forgets);
    KEPT("back", back, fresh, forgets);
}

/* ---- wrong protocols ---- */
static const plan late_test = { { { ADD, 0, 0 } }, { { TEST, 0, 0 } } },
                  both_turn = { { { TICK, 0, THEN + 1 }, { ADD, 0, 0 } }, { { ADD, 1, 0 } } };
#define WRONG(how, p, verdict)                                                                     \
    do {                                                                                           \
        protocol = how;                                                                            \
        BROKEN(p, fresh, verdict);                                                                 \
        protocol = RIGHT;                                                                          \
        KEPT(#how ", if it were right", p, fresh, verdict);                                        \
    } while (0)
TEST(wrong_protocols_are_found)
{
    set_up(growing, 1);
    WRONG(FOUR_BYTES, late_test, grows);
    WRONG(MARK_WRITTEN_FIRST, two_keys, grows);
    WRONG(MARK_READ_FIRST, created, lost_is_an_error);
    set_up(forgetting, 1);
    WRONG(MARK_WRITTEN_FIRST, both_turn, forgets);
}

int main(void)
{
    part_bits = BITS;
    step = EPOCH;
    model.is_own = is_own;
    model.place = place;
    another_call = redis_call;
    rs_start(&redis, NULL);
    struct sockaddr_un at = { .sun_family = AF_UNIX }; /* faster than TCP */
    snprintf(at.sun_path, sizeof at.sun_path, "%s/socket", redis.folder);
    line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(connect(line, (struct sockaddr *)&at, sizeof at), 0);
    run_tests();
    CLOSE(f, handle[0], handle[1], handle[2]);
    rs_end(&redis);
    return model_ended();
}
