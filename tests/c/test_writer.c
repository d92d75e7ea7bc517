/* test_writer.c - who writes to a mapped file: an exclusive writer and all others, in one process
 * and in several; a file that this process has open is not saved over; a file that others replace
 * or delete takes no key that is acknowledged.  About core/home/writer.c. */
#define _GNU_SOURCE
#include "../../core/sets/sets.h"
#include "file_kinds.h"
#include "numbers.h"
#include <sys/mman.h>

/* ---- what writes: each is refused, and each meets a file that was replaced ---- */
static int64_t one(bf_filter *f) { return bf_add(f, "one", 3, &e); }
static int64_t take(bf_filter *f)
{
    const bf_info info = info_of(f);
    return info.counting ? bf_remove(f, "one", 3, &e) : bf_add(f, "one", 3, &e);
}
static int64_t rebuild(bf_filter *f)
{
    const bf_info info = info_of(f);
    if (info.grow != 0 || info.window != 0) return add_two(f);
    bf_filter *fresh = bf_rebuild_begin(f, &e);
    if (!fresh) return e.code;
    add_numbers(fresh, 0, 10);
    const int rc = bf_rebuild_end(f, fresh, &e);
    bf_close(fresh);
    return rc;
}
static int64_t (*const writes[])(bf_filter *) = { add_two, one, clear, unite, take, rebuild };
enum { WRITES = COUNT(writes) };

/* ---- exclusive ---- */
TEST(one_writer_and_readers)
{
    char says[80];
    snprintf(says, sizeof says, "has an exclusive writer (pid %d)", (int)getpid());
    for (size_t k = 0; k < KINDS; k++) {
        bf_filter *f = sure(k, true);
        CHECK(one(f) == BF_ADDED && add_two(f) == 2);
        bf_filter *g = sure(k, false);
        CHECK(bf_test(g, "one", 3, &e) == 1 && bf_test(g, "none", 4, &e) == 0);
        for (size_t w = 0; w < WRITES; w++)
            for (int again = 0; again < 2; again++) { CHECK_REFUSED(writes[w](g), BF_EBUSY, says); }
        CHECK_NO_FILTER(open_it(k, true), BF_EBUSY, says);
        add_numbers(f, 0, 1000);
        CHECK_EQ(found(g, 0, 1000), 1000);
        bf_close(f);
        CHECK(add_two(g) == 0 && one(g) == BF_PRESENT);
        CHECK(!open_it(k, true) && e.code == BF_EBUSY);
        CHECK_HAS(e.msg, "has a writer (pid ");
        bf_close(g);
        f = sure(k, true); /* of a file that was there */
        for (size_t w = 0; w < WRITES; w++) CHECK(writes[w](f) >= 0);
        bf_close(f);
        gone();
    }
}

/* The words are the same, however they were written. */
TEST(the_same_bits)
{
    enum { MANY = 20000 };
    static int numbers[MANY];
    static bf_key keys[MANY];
    for (int i = 0; i < MANY; i++) keys[i] = (bf_key){ &numbers[i], sizeof(int) }, numbers[i] = i;
    for (size_t k = 0; k < KINDS; k++) {
        bf_filter *f = sure(k, true), *g = MADE(&kinds[k]);
        add_numbers(f, 0, 500);
        add_numbers(g, 0, 500);
        CHECK_EQ(bf_add_many(f, keys, MANY, NULL, &e), bf_add_many(g, keys, MANY, NULL, &e));
        CHECK_EQ(bf_equal(f, g, &e), 1);
        CLOSE(f, g);
        gone();
    }
}

/* Homes without one: test_refusals.c. */
TEST(no_permission_to_write)
{
    bf_close(sure(0, false));
    CHECK_EQ(chmod(path, 0400), 0);
    CHECK_NO_FILTER(open_it(0, true), BF_EIO, "no permission to write");
    gone();
}

/* ---- processes ---- */
TEST(a_child_does_not_write)
{
    for (size_t k = 0; k < KINDS; k++) {
        bf_filter *f = sure(k, true);
        CHECK(one(f) == BF_ADDED);
        IN_A_CHILD
        {
            CHECK_EQ(bf_test(f, "one", 3, &e), 1);
            for (size_t w = 0; w < WRITES; w++)
                CHECK_REFUSED(writes[w](f), BF_EBUSY, "a child cannot write");
            bf_close(f);
        }
        IN_A_CHILD CHECK_EQ(add_two(sure(k, false)), BF_EBUSY);
        CHECK(add_two(f) == 2 && !open_it(k, true)); /* the child's close took nothing away */
        bf_close(f);
        gone();
    }
}

/* The owner is killed while a child of it lives. */
TEST(it_ends_with_its_process)
{
    int ready[2], end[2], status;
    char byte;
    CHECK(pipe(ready) == 0 && pipe(end) == 0);
    fflush(NULL);
    const pid_t owner = fork();
    if (owner == 0) {
        close(end[1]);
        bf_filter *f = open_it(0, true);
        if (!f || one(f) != BF_ADDED) _exit(1);
        if (fork() == 0) _exit((int)read(end[0], &byte, 1)); /* lives as long as the test */
        CHECK(write(ready[1], "x", 1) == 1);
        pause();
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    CHECK(!open_it(0, true) && e.code == BF_EBUSY);
    CHECK(kill(owner, SIGKILL) == 0 && waitpid(owner, &status, 0) == owner);
    bf_filter *f = sure(0, true);
    CHECK(bf_test(f, "one", 3, &e) == 1 && add_two(f) == 2);
    bf_close(f);
    close(ready[0]);
    close(ready[1]);
    close(end[0]);
    close(end[1]);
    gone();
}

/* A child goes on with its parent's handle, so it counts as a writer as long as it lives. */
TEST(a_child_of_an_ordinary_writer)
{
    int stop[2];
    bf_filter *f = sure(0, false);
    CHECK(one(f) == BF_ADDED && pipe(stop) == 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        char byte;
        close(stop[1]);
        _exit(read(stop[0], &byte, 1) == 0 && add_two(f) == 2 ? 0 : 1);
    }
    bf_close(f);
    CHECK(!open_it(0, true) && e.code == BF_EBUSY);
    close(stop[1]);
    ends_well(child);
    close(stop[0]);
    f = sure(0, true);
    CHECK_EQ(bf_test(f, "more", 4, &e), 1);
    bf_close(f);
    gone();
}

/* ---- save() over an open file ---- */
TEST(open_files_are_not_saved_over)
{
    char soft[80], hard[80], way[128];
    snprintf(soft, sizeof soft, "%s/soft", folder);
    snprintf(hard, sizeof hard, "%s/hard", folder);
    snprintf(way, sizeof way, "%s/../%s/f.bloom", folder, strrchr(folder, '/') + 1);
    const char *const names[] = { path, soft, hard, way };
    for (size_t k = 0; k < KINDS; k++) {
        bf_filter *f = sure(k, k % 2), *copy = must(bf_copy(f, &e), __LINE__);
        CHECK(one(f) == BF_ADDED && symlink(path, soft) == 0 && link(path, hard) == 0);
        for (size_t i = 0; i < 4; i++) {
            CHECK(bf_save(f, names[i], &e) == BF_EBUSY && bf_save(copy, names[i], &e) == BF_EBUSY);
            CHECK_HAS(e.msg,
                "is open for writing in this process: save elsewhere and rename, or close it");
        }
        CHECK(add_two(f) == 2 && bf_sync(f, &e) == 0 && bf_save(f, other, &e) == 0);
        bf_close(f);
        CHECK(unlink(other) == 0 && unlink(soft) == 0 && unlink(hard) == 0);
        bf_spec reads = spec_of(k, false);
        reads.read_only = true;
        f = MADE(&reads);
        CHECK(bf_save(copy, path, &e) == 0 && bf_test(f, "one", 3, &e) == 1);
        CLOSE(f, copy);
        gone();
    }
}

/* A child has its parent's handles, until it closes them. */
TEST(a_child_saves)
{
    bf_filter *f = sure(0, false);
    CHECK(one(f) == BF_ADDED);
    IN_A_CHILD
    {
        bf_filter *copy = must(bf_copy(f, &e), __LINE__);
        CHECK_EQ(bf_save(copy, path, &e), BF_EBUSY);
        bf_close(f);
        CHECK_EQ(bf_save(copy, path, &e), 0);
    }
    CHECK_EQ(add_two(f), BF_EIO); /* it was replaced */
    bf_close(f);
    gone();
}

/* ---- files that others replace or delete ---- */
static void moved(void) { CHECK_EQ(rename(path, other), 0); }
static void removed(void) { CHECK_EQ(unlink(path), 0); }
static void renamed_over(void)
{
    bf_filter *f = OPEN(.n = 10, .p = 0.1);
    CHECK(bf_save(f, other, &e) == 0 && rename(other, path) == 0);
    bf_close(f);
}
static void (*const ways[])(void) = { moved, removed, renamed_over };

TEST(no_key_without_a_name)
{
    for (size_t k = 0; k < KINDS; k++)
        for (size_t way = 0; way < 3; way++)
            for (size_t w = 0; w < WRITES; w++) {
                bf_filter *f = sure(k, way == 1);
                CHECK(one(f) == BF_ADDED && bf_check_file(f, &e) == 0);
                ways[way]();
                CHECK_EQ(bf_test(f, "one", 3, &e), 1); /* who only asks keeps what it has */
                e = (bf_error){ 0 };
                int64_t rc = 0;
                for (int tries = 0; rc >= 0 && tries < 30000; tries++)
                    rc = w == 4 && kinds[k].counting ? bf_remove(f, &tries, sizeof tries, &e)
                         : w == 1 || w == 4          ? bf_add(f, &tries, sizeof tries, &e)
                                                     : writes[w](f);
                CHECK(rc == BF_EIO && e.lost);
                CHECK_HAS(e.msg, "was replaced or deleted while it was open");
                CHECK(one(f) == BF_EIO && add_two(f) == BF_EIO && bf_check_file(f, &e) == BF_EIO);
                CHECK(bf_sync(f, &e) == BF_EIO && bf_check_file(f, &e) == BF_EIO);
                if (way == 0) { /* it comes back, with all that was added */
                    CHECK_EQ(rename(other, path), 0);
                    CHECK(one(f) >= 0 && add_two(f) >= 0 && bf_sync(f, &e) == 0);
                    CHECK(bf_check_file(f, &e) == 0 && bf_test(f, "one", 3, &e) == 1);
                }
                bf_close(f);
                unlink(path);
                CHECK_EQ(files(), 0);
            }
}

TEST(who_wrote_nothing)
{
    bf_filter *f = sure(0, false);
    removed();
    CHECK(bf_check_file(f, &e) == 0 && bf_sync(f, &e) == BF_EIO);
    bf_close(f);
}

/* A relative path belongs to the folder of its opening. */
TEST(in_another_folder)
{
    char *was = getcwd(NULL, 0);
    CHECK_EQ(chdir(folder), 0);
    bf_filter *f = OPEN(.n = 100, .p = 0.01, .storage = "f.bloom");
    CHECK_EQ(chdir("/"), 0);
    CHECK(add_two(f) == 2 && bf_sync(f, &e) == 0 && bf_check_file(f, &e) == 0);
    removed();
    CHECK(add_two(f) == BF_EIO && bf_check_file(f, &e) == BF_EIO);
    bf_close(f);
    CHECK(chdir(was) == 0);
    free(was);
}

/* In the middle of a long call, and at its last key: the program's own hash function does it. */
static uint64_t calls, replaced_at;
static uint64_t hash(const void *key, size_t len)
{
    uint64_t h = 0;
    memcpy(&h, key, len < sizeof h ? len : sizeof h);
    if (++calls == replaced_at) removed();
    return h * UINT64_C(0x9E3779B97F4A7C15) >> 20;
}

TEST(in_the_middle_of_a_call)
{
    enum { MANY = 200000, NOTICED = 40000 };
    static int numbers[MANY];
    static bf_key keys[MANY];
    bf_function *const own[] = { hash };
    const bf_functions functions = { .count = 1, .function = own };
    for (int i = 0; i < MANY; i++) keys[i] = (bf_key){ &numbers[i], sizeof(int) }, numbers[i] = i;
    for (int last = 0; last < 2; last++) {
        bf_filter *f = OPEN(.m = 10000000, .n = MANY, .functions = &functions, .storage = path);
        calls = 0;
        replaced_at = last ? MANY : MANY / 4;
        e = (bf_error){ 0 };
        CHECK(bf_add_many(f, keys, MANY, NULL, &e) == BF_EIO && e.lost);
        CHECK(last || calls < replaced_at + NOTICED);
        bf_close(f);
    }
    CHECK_EQ(files(), 0);
}

/* Whatever other threads do at that moment: what is added after it was replaced is an error. */
static bool started, given_up;
static void *adds(void *filter)
{
    bf_error own;
    const bf_key key = { "key", 3 };
    __atomic_store_n(&started, true, __ATOMIC_RELEASE);
    while (bf_add_many(filter, &key, 1, NULL, &own) >= 0 &&
           !__atomic_load_n(&given_up, __ATOMIC_ACQUIRE));
    return NULL;
}

TEST(replaced_beside_an_adder)
{
    for (int i = 0; i < 300; i++) {
        pthread_t t;
        bf_spec s = spec_of(0, false);
        s.threads = true;
        bf_filter *f = MADE(&s);
        __atomic_store_n(&started, false, __ATOMIC_RELEASE);
        CHECK_EQ(pthread_create(&t, NULL, adds, f), 0);
        while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE)) sched_yield();
        renamed_over();
        __atomic_store_n(&given_up, failed_here > 0, __ATOMIC_RELEASE); /* it was not replaced */
        pthread_join(t, NULL);
        CHECK(one(f) == BF_EIO && one(f) == BF_EIO);
        bf_close(f);
        gone();
    }
}

/* Kernels of exclusive writers. A write would make a page of a file dirty; here it is a fault. */
TEST(present_keys_are_not_written)
{
    enum { BYTES = 1 << 16 };
    for (const bf_scheme *s = bf_schemes; s->keyed; s++) {
        bf_filter *f = bf_open(&(bf_spec){ .m = 8 * BYTES, .k = 7, .scheme = s->name }, &e);
        for (int row = 0; row <= (int)bf_cpu(); row++) {
            const bf_kernels *one = s->layout->kernels[0][row];
            uint64_t d[BF_RING], *words = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            for (size_t i = 0; i < BF_RING; i++) d[i] = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
            for (int again = 0; one && again < 2; again++) {
                CHECK_EQ(one->add_one[BF_ADD_IF_ABSENT](&f->bitmap.g, words, d), again);
                const uint64_t had =
                    one->add[BF_ADD_IF_ABSENT](&f->bitmap.g, words, d, one->step, d, 0);
                CHECK(again ? had + 1 == (one->step < 64 ? UINT64_C(1) << one->step : 0) : had & 1);
                CHECK_EQ(mprotect(words, BYTES, PROT_READ), 0);
            }
            munmap(words, BYTES);
        }
        bf_close(f);
    }
}

int main(void) { return main_in_folder(); }
