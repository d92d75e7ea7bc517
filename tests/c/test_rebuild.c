/* test_rebuild.c - rebuild in memory and in mapped files: the same bits as a new filter of these
 * keys, what is added meanwhile, who may rebuild, who waits for it, kill -9 and faults at every
 * step, and children of fork that have a copy of somebody's rebuild.  Every order of the steps, and
 * copies of the file: tests/model.  About core/sets/rebuild.c, core/home/shadow.c,
 * core/keys/loop.c. */
/* wraps: msync fsync ftruncate posix_fallocate mmap flock fcntl fstat */
#define _GNU_SOURCE
#include "../../core/sets/rebuild.h"
#include "chain_bytes.h"
#include "rebuilt.h"

/* ---- the calls that can end a process, or fail ---- */
static int kill_before = -1, kill_after = -1, fail_at = -1, calls;
static bool step(void)
{
    const int now = calls++;
    if (now == kill_before) raise(SIGKILL);
    return now == fail_at;
}
static int done_(int rc)
{
    if (calls - 1 == kill_after) raise(SIGKILL);
    return rc;
}
#define WRAP(name, parameters, arguments, failure)                                                 \
    int __real_##name parameters;                                                                  \
    int __wrap_##name parameters;                                                                  \
    int __wrap_##name parameters                                                                   \
    {                                                                                              \
        if (step()) {                                                                              \
            errno = ENOSPC;                                                                        \
            return failure;                                                                        \
        }                                                                                          \
        return done_(__real_##name arguments);                                                     \
    }
WRAP(msync, (void *p, size_t n, int flags), (p, n, flags), -1)
WRAP(fsync, (int fd), (fd), -1)
WRAP(ftruncate, (int fd, off_t n), (fd, n), -1)
WRAP(posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), ENOSPC)

static bool no_map, no_lock, no_mark, no_answer, no_check;
REPLACED(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t from))
{
    if (!no_map || from == 0) return __real_mmap(at, n, prot, flags, fd, from);
    errno = ENOMEM;
    return MAP_FAILED;
}
HOOKED(int, flock, (int fd, int op), (fd, op), no_lock ? ENOLCK : 0)
HOOKED(int, fcntl, (int fd, int cmd, void *arg), (fd, cmd, arg),
    no_mark &&cmd == F_OFD_SETLK      ? ENOLCK
    : no_answer && cmd == F_OFD_GETLK ? EINVAL
                                      : 0)
/* Of every second look: the first is whether the file is as long as it was. */
REPLACED(int, fstat, (int fd, struct stat *st))
{
    static bool second;
    if (!no_check) return __real_fstat(fd, st);
    second = !second;
    return second ? __real_fstat(fd, st) : fault(EIO);
}

/* ---- filters ---- */
static off_t length(void)
{
    struct stat st;
    return stat(path, &st) < 0 ? -1 : st.st_size;
}
static off_t image(bf_filter *f)
{
    const bf_info i = info_of(f);
    return (off_t)bf_image_bytes(i.bitset_bytes * 8);
}
/* ---- what it does ---- */
TEST(the_bits_of_a_new_filter)
{
    EACH
    {
        bf_filter *f = open_(in_file), *g = in_file ? open_(true) : bf_retain(f);
        add(f, 0, 1000);
        bf_filter *fresh = bf_rebuild_begin(f, &e);
        CHECK(fresh && same(f, g) && has(g, 0, 1000) == 1000);
        add(fresh, 500, 1500);
        CHECK(has(f, 0, 1000) == 1000);
        CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
        CHECK(is(g, 500, 1500, 0, 0) && same(f, fresh) && same(f, g));
        add(g, 3000, 3100); /* and on as ever */
        CHECK(is(f, 500, 1500, 3000, 3100));
        bf_close(fresh);
        CHECK_EQ(bf_rebuild_end(f, fresh = of(1, 2, 7, 9), &e), 0); /* of no begin */
        CHECK(is(g, 1, 2, 7, 9));
        bf_close(fresh);
        if (in_file) CHECK_EQ(length(), image(f));
        CLOSE(f, g);
        if (in_file) gone();
    }
}

TEST(what_is_added_meanwhile_is_kept)
{
    EACH
    {
        bf_filter *f = open_(in_file), *g = in_file ? open_(true) : bf_retain(f),
                  *other = of(6000, 6100, 0, 0);
        uint8_t each[3];
        const bf_key keys[] = { { "k1", 2 }, { "new", 3 }, { "new", 3 } };
        add(f, 0, 1000);
        bf_filter *fresh = bf_rebuild_begin(f, &e);
        add(g, 4000, 4100);
        CHECK_EQ(bf_add_many(f, keys, 3, each, &e), 1);
        CHECK(each[0] == 0 && each[1] == 1 && each[2] == 0);
        CHECK_EQ(bf_unite(g, other, &e), 0);
        CHECK_EQ(has(f, 0, 1000) + has(f, 4000, 4100) + has(f, 6000, 6100), 1200);
        CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
        bf_filter *want = of(4000, 4100, 1, 2);
        CHECK(bf_add_many(want, keys + 1, 2, NULL, &e) == 1 && bf_unite(want, other, &e) == 0);
        CHECK(same(g, want));
        if (counting) CHECK_EQ(bf_count_of(g, "new", 3, &e), 2);
        CLOSE(f, g, other, fresh, want);
        if (in_file) gone();
    }
}

TEST(counters_that_are_taken_back)
{
    counting = 1;
    for (in_file = 0; in_file < 2; in_file++) {
        bf_filter *f = open_(in_file);
        add(f, 0, 10);
        bf_filter *fresh = bf_rebuild_begin(f, &e);
        add(fresh, 5, 10);
        CHECK(bf_remove(f, "k3", 2, &e) == 1 && bf_remove(f, "k7", 2, &e) == 1);
        CHECK(bf_remove(f, "k3", 2, &e) == 0 && has(f, 7, 8) == 0);
        CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
        CHECK(is(f, 5, 10, 0, 0)); /* of the new keys none is taken back */
        CHECK(bf_remove(f, "k7", 2, &e) == 1 && has(f, 7, 8) == 0);
        CLOSE(fresh, f);
        if (in_file) gone();
    }
}

TEST(one_at_a_time)
{
    EACH
    {
        bf_filter *f = open_(in_file), *g = in_file ? open_(true) : NULL;
        add(f, 0, 100);
        bf_filter *first = bf_rebuild_begin(f, &e), *second = NULL;
        if (g) {
            CHECK_NO_FILTER(
                bf_rebuild_begin(g, &e), BF_EBUSY, "is being rebuilt by another process or handle");
            CHECK_REFUSED(bf_rebuild_end(g, f, &e), BF_EBUSY, "wait until that has ended");
        }
        add(first, 1, 2);
        add(f, 200, 210);
        CHECK((second = bf_rebuild_begin(f, &e)) != NULL); /* the same handle: begun again */
        add(second, 50, 60);
        CHECK_REFUSED(bf_rebuild_end(f, first, &e), BF_EBUSY, "another one began after it");
        CHECK(has(f, 0, 100) == 100 && has(f, 200, 210) == 10);
        CHECK_EQ(bf_rebuild_cancel(f, first, &e), 0); /* it is over: nothing happens */
        CHECK_EQ(bf_rebuild_end(f, second, &e), 0);
        CHECK(is(f, 50, 60, 0, 0));
        bf_close(first);
        first = bf_rebuild_begin(f, &e);
        add(first, 1, 2);
        add(f, 300, 310);
        CHECK_EQ(bf_rebuild_cancel(f, first, &e), 0);
        CHECK_EQ(bf_rebuild_cancel(f, first, &e), 0);
        CHECK(is(f, 50, 60, 300, 310));
        if (g) {
            CHECK_EQ(length(), image(f));
            bf_filter *after = bf_rebuild_begin(g, &e);
            CHECK(after && bf_rebuild_end(g, after, &e) == 0 && is(f, 0, 0, 0, 0));
            bf_close(after);
        }
        CLOSE(f, first, second, g);
        if (in_file) gone();
    }
}

TEST(a_file_meanwhile)
{
    for (counting = 0; counting < 2; counting++) {
        bf_filter *f = open_(true);
        bf_spec there = { .storage = path, .counting = counting };
        add(f, 0, 100);
        const off_t was = length();
        const uint64_t m = info_of(f).m;
        bf_filter *fresh = bf_rebuild_begin(f, &e), *g = bf_open(&there, &e);
        CHECK(length() > was && g && bf_is_current(f, &there, &e) == 1 && bf_sync(f, &e) == 0);
        bf_filter *loaded = bf_load(path, &there, &e);
        CHECK(loaded && is(loaded, 0, 100, 0, 0));
        there.read_only = true;
        bf_filter *reader = bf_open(&there, &e);
        CHECK(reader && !bf_rebuild_begin(reader, &e) && e.code == BF_ENOTSUP);
        CHECK_HAS(e.msg, "read-only");
        bf_close(f); /* its rebuild ends with it */
        add(g, 100, 101);
        CHECK(length() == was && is(reader, 0, 101, 0, 0));
        CLOSE(fresh, g, loaded, reader);
        const bf_params d = { .g = { .m = m, .counting = counting } };
        const off_t most = (off_t)bf_shadow_to(bf_bits(&d.g));
        there.read_only = false;
        CHECK_EQ(truncate(path, most), 0); /* copied while a rebuild began */
        bf_close(g = bf_open(&there, &e));
        CHECK_EQ(truncate(path, most + 1), 0); /* nobody rebuilds it */
        CHECK_REFUSED((bf_close(bf_open(&there, &e)), e.code), BF_EFORMAT, "is too long");
        gone();
    }
}

TEST(a_system_that_refuses)
{
    for (counting = 0; counting < 2; counting++) {
        bf_filter *f = open_(true), *g = open_(true), *fresh;
        add(f, 0, 10);
        for (bool **no = (bool *[]){ &no_map, &no_lock, &no_mark, NULL }; *no; no++) {
            **no = true;
            CHECK(!bf_rebuild_begin(f, &e));
            CHECK_HAS(e.msg, path);
            **no = false;
            CHECK(length() == image(f) && is(f, 0, 10, 0, 0));
        }
        CHECK((fresh = bf_rebuild_begin(f, &e)) != NULL);
        for (bool **no = (bool *[]){ &no_map, &no_lock, &no_check, NULL }; *no; no++) {
            **no = true; /* never in silence: the key may be lost */
            CHECK_REFUSED(bf_add(g, "key", 3, &e), no[0] == &no_map ? BF_ENOMEM : BF_EIO, path);
            if (*no == &no_lock) CHECK(bf_rebuild_cancel(f, fresh, &e) < 0);
            **no = false;
            bf_close(fresh); /* that of the same handle goes on */
            CHECK((fresh = bf_rebuild_begin(f, &e)) != NULL);
        }
        no_answer = true; /* does its maker live?  Another one may begin then */
        bf_filter *other = bf_rebuild_begin(g, &e);
        CHECK(other != NULL);
        no_answer = false;
        add(other, 20, 30);
        CHECK_REFUSED(bf_rebuild_end(f, fresh, &e), BF_EBUSY, "another one began after it");
        CHECK(bf_rebuild_end(g, other, &e) == 0 && is(f, 20, 30, 0, 0));
        CLOSE(f, g, fresh, other);
        gone();
    }
}

TEST(a_damaged_shadow_takes_no_place)
{
    const bf_spec there = { .m = 100, .n = 10, .scheme = "classic", .storage = path };
    _Alignas(8) uint8_t bad[16];
    memset(bad, 0xFF, sizeof bad);
    bf_filter *f = bf_open(&there, &e);
    CHECK(f && bf_add(f, "a", 1, &e) == 1);
    bf_close(f);
    const int fd = open(path, O_RDWR);
    uint64_t replacing;
    bf_live_set(&replacing, 4 + BF_REPLACING);
    CHECK_EQ(pwrite(fd, &replacing, 8, 2080), 8);
    CHECK_EQ(pwrite(fd, bad, sizeof bad, (off_t)bf_shadow_from(100)), (ssize_t)sizeof bad);
    CHECK_EQ(close(fd), 0);
    f = bf_open(&there, &e);
    CHECK(f && bf_test(f, "a", 1, &e) == 1); /* its bits are as they were */
    CHECK(bf_add(f, "b", 1, &e) == 1 && length() == (off_t)bf_image_bytes(100));
    bf_close(f);
    CHECK((f = bf_open(&there, &e)) != NULL);
    bf_close(f);
    gone();
}

/* A generation is 0 or has its own check. */
TEST(a_generation_that_nobody_wrote)
{
    static const uint64_t bad[] = { 5, 4, 0 };
    for (size_t i = 0; i < COUNT(bad); i++) {
        uint8_t page[PAGE];
        counting = 0;
        bf_filter *f = of(0, 100, 0, 0);
        CHECK_EQ(bf_save(f, path, &e), 0);
        bf_close(f);
        const int fd = open(path, O_RDWR);
        CHECK_EQ(pread(fd, page, PAGE, 0), PAGE);
        put(page + 2048, 8, UINT64_C(0xFFFFFFFE00000001)); /* dirty */
        put(page + 2080, 8, bad[i] == 5 ? 5 : live(1 << 16) ^ bad[i]);
        CHECK_EQ(pwrite(fd, page, PAGE, 0), PAGE);
        CHECK_EQ(close(fd), 0);
        f = bf_open(&(bf_spec){ .storage = path }, &e);
        CHECK_EQ(f != NULL, bad[i] == 0);
        if (!f) CHECK_HAS(e.msg, "its generation is invalid");
        bf_close(f);
        gone();
    }
}

/* ---- whoever dies, or cannot go on, at any step ---- */
static int *acked; /* keys from 5000 on that were added by the time */
enum { NO_STEP = 1000 };
static int rebuild_and_add(void)
{
    bf_filter *f = open_(true), *g = open_(true), *fresh = NULL;
    int rc = BF_EIO;
    calls = NO_STEP; /* each handle's first write, of no key */
    CHECK(bf_add_many(f, NULL, 0, NULL, &e) == 0 && bf_add_many(g, NULL, 0, NULL, &e) == 0);
    calls = 0;
    if (f && g && (fresh = bf_rebuild_begin(f, &e))) {
        add(fresh, 500, 1500);
        for (; *acked < 40; ++*acked) add(*acked % 2 ? f : g, 5000 + *acked, 5001 + *acked);
        rc = bf_rebuild_end(f, fresh, &e);
    }
    CLOSE(fresh, f, g);
    return rc;
}

/* Exactly the old keys or the new ones, and what was added; for whoever had it open and whoever
 * opens it. */
static bool old_or_new(bf_filter *watcher, int *new)
{
    const int end = 5000 + *acked;
    bf_filter *late = open_(true);
    *new = is(late, 500, 1500, 5000, end);
    const bool good = (*new || is(late, 0, 1000, 5000, end)) && same(late, watcher);
    CHECK_EQ(length(), image(late));
    add(watcher, 9000, 9010);
    CHECK_EQ(has(late, 9000, 9010), 10);
    bf_filter *fresh = bf_rebuild_begin(late, &e);
    CHECK(fresh && bf_rebuild_end(late, fresh, &e) == 0 && is(watcher, 0, 0, 0, 0));
    CLOSE(fresh, late);
    return good;
}

TEST(killed_at_any_step)
{
    acked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (counting = 0; counting < 2; counting++)
        for (int after = 0; after < 2; after++) {
            int news = 0, olds = 0, new = 0;
            bool ended = false;
            for (int at = 0; !ended && at < 100; at++) {
                int status;
                bf_filter *watcher = open_(true);
                add(watcher, 0, 1000);
                *acked = 0;
                fflush(NULL);
                pid_t child = fork();
                if (child == 0) {
                    *(after ? &kill_after : &kill_before) = at;
                    rebuild_and_add();
                    _exit(failed_here != 0);
                }
                CHECK(waitpid(child, &status, 0) == child);
                ended = status == 0;
                CHECK(ended || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
                CHECK(old_or_new(watcher, &new));
                if (!ended) *(new ? &news : &olds) += 1;
                bf_close(watcher);
                gone();
            }
            CHECK(ended && new && olds > 3 && news > 3);
        }
}

TEST(a_fault_at_any_step)
{
    for (counting = 0; counting < 2; counting++) {
        int new = 0, faults = 0;
        for (int at = 0; at < 100; at++) {
            bf_filter *watcher = open_(true);
            add(watcher, 0, 1000);
            *acked = 0;
            fail_at = at;
            const int rc = rebuild_and_add();
            fail_at = -1;
            if (rc < 0) CHECK_HAS(e.msg, path);
            CHECK(old_or_new(watcher, &new) && (rc < 0 || new));
            bf_close(watcher);
            gone();
            faults += rc < 0;
            if (calls <= at) break;
        }
        CHECK(faults > 5);
    }
}

/* A home that has words, and no shadows: layouts and kernels ask for no more. */
TEST(a_home_without_shadows)
{
    bf_filter *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.01 }, &e);
    bf_store_ops plain = *f->bitmap.store.ops;
    plain.shadow = NULL;
    f->bitmap.store.ops = &plain;
    bf_finish_open(f, false);
    bf_filter *other = bf_copy(f, &e);
    const bf_key keys[] = { { "b", 1 }, { "c", 1 } };
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    CHECK_EQ(bf_add_many(f, keys, 2, NULL, &e), 2);
    CHECK_EQ(bf_test_many(f, keys, 2, NULL, &e), 2);
    CHECK_EQ(bf_add(other, "d", 1, &e), BF_ADDED);
    CHECK_EQ(bf_unite(f, other, &e), 0);
    CHECK_EQ(bf_test(f, "a", 1, &e) + bf_test(f, "d", 1, &e), 2);
    CHECK(!bf_rebuild_begin(f, &e) && e.code == BF_ENOTSUP);
    CLOSE(f, other);
}

/* ---- a rebuild that begins in the middle of an add ---- */
static const bf_kernels *real_kernels;
static bf_filter *beside, *overtaking;
static bool overtaken(const bf_geometry *g, uint64_t *words, const uint64_t *d)
{
    const bool present = real_kernels->add_one[1](g, words, d);
    CHECK((overtaking = bf_rebuild_begin(beside, &e)) != NULL);
    no_lock = true;
    return present;
}
/* What the second pass would read, if it read an answer that it did not set: "absent". */
static __attribute__((noinline)) void clear_stack(void)
{
    volatile char below[1 << 15];
    for (size_t i = 0; i < sizeof below; i++) below[i] = 0;
}
static bool ends_at_once;
static bool begun_meanwhile(const bf_geometry *g, uint64_t *words, const uint64_t *d)
{
    const bool present = real_kernels->add_one[1](g, words, d);
    CHECK((overtaking = bf_rebuild_begin(beside, &e)) != NULL);
    if (ends_at_once) CHECK_EQ(bf_rebuild_end(beside, overtaking, &e), 0);
    clear_stack();
    return present;
}
/* A key of the filter stays one while the rebuild goes on, and is new if it has ended. */
TEST(an_add_in_the_middle_of_which_a_rebuild_begins)
{
    for (int ends = 0; ends < 2; ends++) {
        EACH
        {
            bf_filter *f = open_(in_file), *g = beside = in_file ? open_(true) : bf_retain(f);
            bf_kernels kernels = *(real_kernels = f->bitmap.kernels);
            add(f, 7, 8);
            kernels.add_one[1] = begun_meanwhile;
            f->single = f->bitmap.kernels = &kernels;
            ends_at_once = ends;
            CHECK_EQ(bf_add(f, "k7", 2, &e), ends ? BF_ADDED : BF_PRESENT);
            if (!ends) CHECK_EQ(bf_rebuild_end(g, overtaking, &e), 0);
            CHECK_EQ(has(f, 7, 8), 1);
            CLOSE(overtaking, f, g);
            if (in_file) gone();
        }
    }
}

/* A second pass that cannot be made is an error, never in silence: the key may be lost. */
TEST(a_second_pass_that_fails)
{
    for (counting = 0; counting < 2; counting++) {
        bf_filter *f = open_(true), *g = beside = open_(true);
        bf_kernels kernels = *(real_kernels = f->bitmap.kernels);
        kernels.add_one[1] = overtaken;
        f->single = f->bitmap.kernels = &kernels;
        CHECK_REFUSED(bf_add(f, "k7", 2, &e), BF_EIO, "cannot lock");
        no_lock = false;
        CHECK_EQ(bf_rebuild_cancel(g, overtaking, &e), 0);
        CLOSE(overtaking, f, g);
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
/* The parent's rebuild goes on whatever its child does with the handle. */
TEST(a_child_of_its_maker)
{
    for (counting = 0; counting < 2; counting++) {
        bf_filter *f = open_(true);
        add(f, 0, 100);
        bf_filter *fresh = bf_rebuild_begin(f, &e);
        add(fresh, 50, 200);
        IN_A_CHILD
        {
            add(f, 600, 610);
            CHECK_REFUSED(bf_rebuild_end(f, fresh, &e), BF_EBUSY, "it is the parent process's");
            CHECK_EQ(bf_rebuild_cancel(f, fresh, &e), 0);
            bf_close(fresh);
            CHECK(!bf_rebuild_begin(f, &e) && e.code == BF_EBUSY);
            bf_close(f);
        }
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
    char byte;
    bf_filter *f = open_(true), *fresh = bf_rebuild_begin(f, &e);
    CHECK(fresh && pipe(until) == 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) _exit(close(until[1]) != 0 || read(until[0], &byte, 1) != 0);
    CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
    bf_close(fresh);
    bf_filter *g = open_(true);
    IN_A_CHILD CHECK(bf_rebuild_begin(g, &e) != NULL);
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
