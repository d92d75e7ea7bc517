/* test_rebuild_overtakes.c - calls that a rebuild overtakes at a certain moment, or that wait for
 * it, and children of fork that have a copy of somebody's rebuild.  About core/sets/rebuild.c,
 * core/keys/loop.c. */
#define _GNU_SOURCE
#include "../../core/sets/rebuild.h"
#include "rebuilt.h"
#include <sys/resource.h>

/* ---- an add that a rebuild overtakes ---- */
enum { NEVER, BEFORE, AFTER };
enum { AT_ONCE, LATER, GIVEN_UP };
static struct {
    int when; /* of the first part of the work */
    int ends; /* how the rebuild does */
    bf_filter *by, *fresh;
    const bf_kernels *real;
    bf_store_ops plain;
} overtaken;

static void overtake(int now)
{
    if (overtaken.when != now) return;
    overtaken.when = NEVER;
    CHECK((overtaken.fresh = bf_rebuild_begin(overtaken.by, &e)) != NULL);
    add(overtaken.fresh, 500, 600);
    if (overtaken.ends == AT_ONCE) CHECK_EQ(bf_rebuild_end(overtaken.by, overtaken.fresh, &e), 0);
}
static bool one_overtaken(const bf_geometry *g, uint64_t *words, const uint64_t *d)
{
    overtake(BEFORE);
    const bool present = overtaken.real->add_one[1](g, words, d);
    overtake(AFTER);
    return present;
}
static uint64_t many_overtaken(const bf_geometry *g, uint64_t *words, const uint64_t *d, size_t n,
    const uint64_t *ahead, size_t nahead)
{
    overtake(BEFORE);
    const uint64_t present = overtaken.real->add[1](g, words, d, n, ahead, nahead);
    overtake(AFTER);
    return present;
}
/* A union reads the other in blocks. */
static int read_overtaken(bf_store *s, uint64_t at, void *buf, uint64_t len, bf_error *err)
{
    overtake(BEFORE);
    memcpy(buf, (const uint8_t *)s->words + at, len);
    return 0;
}
static void add_single(bf_filter *f, bf_filter *other)
{
    CHECK_EQ(bf_add(f, "k7", 2, &e), BF_ADDED);
}
static void add_several(bf_filter *f, bf_filter *other)
{
    uint8_t each[4];
    const bf_key keys[] = { { "k7", 2 }, { "k0", 2 }, { "k8", 2 }, { "k8", 2 } };
    CHECK_EQ(bf_add_many(f, keys, 4, each, &e), each[1] ? 3 : 2); /* k0 may be new once more */
    CHECK(each[0] == 1 && each[2] == 1 && each[3] == 0);
}
static void add_several_without_each(bf_filter *f, bf_filter *other)
{
    const bf_key keys[] = { { "k7", 2 }, { "k8", 2 } };
    CHECK_EQ(bf_add_many(f, keys, 2, NULL, &e), 2);
}
static void unite_other(bf_filter *f, bf_filter *other) { CHECK_EQ(bf_unite(f, other, &e), 0); }

static int counts_of(bf_filter *f, const char *key)
{
    return counting ? bf_count_of(f, key, 2, &e) : bf_test(f, key, 2, &e);
}
/* The key of the call is there afterwards: once, or twice in counters that were changed after the
 * rebuild and before the look. */
static void overtakes(void (*call)(bf_filter *f, bf_filter *other), int when, int ends)
{
    bf_filter *f = open_(in_file), *other = of(7, 8, 0, 0);
    bf_kernels kernels = *(overtaken.real = f->bitmap.kernels);
    kernels.add_one[1] = one_overtaken;
    kernels.add[1] = many_overtaken;
    f->single = f->bitmap.kernels = &kernels;
    overtaken.plain = *other->bitmap.store.ops;
    overtaken.plain.read = read_overtaken;
    other->bitmap.store.ops = &overtaken.plain;
    overtaken.by = in_file ? open_(true) : bf_retain(f);
    overtaken.ends = ends;
    add(f, 0, 5);
    overtaken.when = when;
    call(f, other);
    CHECK_EQ(overtaken.when, NEVER);
    if (ends == LATER) CHECK_EQ(bf_rebuild_end(overtaken.by, overtaken.fresh, &e), 0);
    if (ends == GIVEN_UP) CHECK_EQ(bf_rebuild_cancel(overtaken.by, overtaken.fresh, &e), 0);
    CHECK_EQ(has(f, 500, 600), ends == GIVEN_UP ? 0 : 100);
    CHECK_EQ(has(f, 1, 5), ends == GIVEN_UP ? 4 : 0);
    CHECK_EQ(counts_of(f, "k7"), 1 + (counting && when == BEFORE && ends == AT_ONCE));
    bf_close(overtaken.fresh);
    bf_close(overtaken.by);
    CLOSE(other, f);
    if (in_file) gone();
}
TEST(an_add_that_is_overtaken)
{
    EACH
    {
        for (int ends = AT_ONCE; ends <= GIVEN_UP; ends++) {
            for (int when = BEFORE; when <= AFTER; when++) {
                overtakes(add_single, when, ends);
                overtakes(add_several, when, ends);
                overtakes(add_several_without_each, when, ends);
            }
            overtakes(unite_other, BEFORE, ends);
        }
    }
}

/* A second pass that cannot be made is an error, never in silence: the key may be lost. */
static void no_descriptors(bool none)
{
    struct rlimit r;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &r), 0);
    r.rlim_cur = none ? 0 : 256;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &r), 0);
}
static bool one_without(const bf_geometry *g, uint64_t *words, const uint64_t *d)
{
    const bool present = one_overtaken(g, words, d);
    no_descriptors(true);
    return present;
}
static uint64_t many_without(const bf_geometry *g, uint64_t *words, const uint64_t *d, size_t n,
    const uint64_t *ahead, size_t nahead)
{
    const uint64_t present = many_overtaken(g, words, d, n, ahead, nahead);
    no_descriptors(true);
    return present;
}
TEST(a_second_pass_that_fails)
{
    for (counting = 0; counting < 2; counting++) {
        bf_filter *f = open_(true);
        const bf_key key = { "k7", 2 };
        bf_kernels kernels = *(overtaken.real = f->bitmap.kernels);
        kernels.add_one[1] = one_without;
        kernels.add[1] = many_without;
        f->single = f->bitmap.kernels = &kernels;
        overtaken.by = open_(true);
        overtaken.ends = AT_ONCE;
        for (int many = 0; many < 2; many++) {
            overtaken.when = AFTER;
            const int rc = many ? (int)bf_add_many(f, &key, 1, NULL, &e) : bf_add(f, "k7", 2, &e);
            no_descriptors(false);
            CHECK(rc == BF_EIO && e.sys_errno == EMFILE);
            CHECK_HAS(e.msg, "cannot lock");
            bf_close(overtaken.fresh);
        }
        CHECK(has(f, 500, 600) == 100 && has(f, 7, 8) == 0);
        bf_close(overtaken.by);
        bf_close(f);
        gone();
    }
}

/* ---- who waits says so ---- */
static struct {
    bf_filter *f;
    int fd, begun, ended;
} waited;
/* Whoever has the hold gives it back as soon as somebody waits for it. */
static void *wait_begins(void *ctx)
{
    waited.begun++;
    if (waited.fd >= 0)
        flock(waited.fd, LOCK_UN);
    else
        bf_int_store_release(&waited.f->lock_holder, 0);
    return ctx;
}
static void wait_ends(void *ctx, void *began)
{
    CHECK(began == ctx);
    waited.ended++;
}
TEST(whoever_waits_for_a_rebuild_says_so)
{
    EACH
    {
        bf_filter *f = open_(in_file);
        waited.f = f;
        waited.fd = in_file ? open(path, O_RDONLY) : -1;
        waited.begun = waited.ended = 0;
        bf_set_wait_hooks(f, wait_begins, wait_ends, &waited);
        bf_filter *fresh = bf_rebuild_begin(f, &e);
        add(f, 0, 5); /* the first one waits for the disk */
        waited.begun = waited.ended = 0;
        add(f, 5, 10);
        CHECK_EQ(waited.begun, 0); /* a hold that is free is not waited for */
        if (in_file)
            CHECK_EQ(flock(waited.fd, LOCK_EX), 0);
        else
            f->lock_holder = bf_process();
        add(f, 10, 20);
        CHECK(waited.begun == 1 && waited.ended == 1);
        CHECK(bf_rebuild_end(f, fresh, &e) == 0 && is(f, 0, 20, 0, 0));
        if (in_file) close(waited.fd);
        CLOSE(fresh, f);
        if (in_file) gone();
    }
}

/* ---- a child of fork ---- */
/* Runs it in a child, which then waits for a byte of the pipe, if there is one. */
static pid_t child_of(
    void (*run)(bf_filter *f, bf_filter *fresh), bf_filter *f, bf_filter *fresh, const int until[2])
{
    char byte;
    fflush(NULL);
    const pid_t child = fork();
    if (child != 0) return child;
    if (run) run(f, fresh);
    if (until) close(until[1]);
    _exit(failed_here != 0 || (until && read(until[0], &byte, 1) != 0));
}
static void gives_up(bf_filter *f, bf_filter *fresh)
{
    add(f, 600, 610);
    CHECK_REFUSED(bf_rebuild_end(f, fresh, &e), BF_EBUSY, "it is the parent process's");
    CHECK_EQ(bf_rebuild_cancel(f, fresh, &e), 0);
    bf_close(fresh);
    CHECK(!bf_rebuild_begin(f, &e) && e.code == BF_EBUSY);
    bf_close(f);
}
static void begins_and_dies(bf_filter *f, bf_filter *fresh)
{
    CHECK(bf_rebuild_begin(f, &e) != NULL);
}

/* The parent's rebuild goes on whatever its child does with the handle. */
TEST(a_child_of_its_maker)
{
    for (counting = 0; counting < 2; counting++) {
        bf_filter *f = open_(true);
        add(f, 0, 100);
        bf_filter *fresh = bf_rebuild_begin(f, &e);
        add(fresh, 50, 200);
        ends_well(child_of(gives_up, f, fresh, NULL));
        CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
        CHECK(is(f, 50, 200, 600, 610));
        CLOSE(fresh, f);
        gone();
    }
}

/* It says nothing of the rebuilds of others, once that of its parent has ended. */
TEST(a_child_that_outlives_a_rebuild)
{
    int until[2];
    bf_filter *f = open_(true), *fresh = bf_rebuild_begin(f, &e);
    CHECK(fresh && pipe(until) == 0);
    const pid_t child = child_of(NULL, f, fresh, until);
    CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
    bf_close(fresh);
    bf_filter *g = open_(true);
    ends_well(child_of(begins_and_dies, g, NULL, NULL));
    CHECK((fresh = bf_rebuild_begin(f, &e)) != NULL);
    close(until[0]);
    close(until[1]);
    ends_well(child);
    CLOSE(fresh, f, g);
    gone();
}

/* In memory it has its own. */
TEST(a_child_with_a_copy)
{
    bf_filter *f = open_(false), *fresh = bf_rebuild_begin(f, &e);
    add(fresh, 50, 200);
    fflush(NULL);
    const pid_t child = fork();
    CHECK(bf_rebuild_end(f, fresh, &e) == 0 && is(f, 50, 200, 0, 0));
    if (child == 0) _exit(failed_here != 0);
    ends_well(child);
    CLOSE(fresh, f);
}

int main(void) { return main_in_folder(); }
