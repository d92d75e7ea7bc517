/* test_file.c - mapped files: several handles and processes on one file, every wrong file, kill
 * -9, racing creators, a full disk.  BF_KILLS sets the number of kill -9 rounds (30);
 * BF_SMALL_DISK names a small file system to fill.  About core/home/file.c. */
#define _GNU_SOURCE
#include "../../core/bloomfilter_host.h"
#include "one_folder.h"
#include "paged.h"
#include "optional.h"
#include "native.h"

#define OPEN(...) must(bf_open(&(bf_spec){ .storage = path, __VA_ARGS__ }, &e), __LINE__)
static int add(bf_filter *f, const char *who, unsigned i)
{
    char t[48];
    return bf_add(f, t, (size_t)sprintf(t, "%s-%u", who, i), &e);
}
static int has(bf_filter *f, const char *who, unsigned i)
{
    char t[48];
    return bf_test(f, t, (size_t)sprintf(t, "%s-%u", who, i), &e);
}

static unsigned files_in(const char *where)
{
    unsigned n = 0;
    DIR *d = opendir(where);
    for (struct dirent *x; d && (x = readdir(d));) n += x->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}
static void remove_it(void)
{
    unlink(path);
    CHECK_EQ(files_in(folder), 0);
}
static void put_bytes(const void *b, size_t n)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    CHECK(write(fd, b, n) == (ssize_t)n);
    close(fd);
}
static size_t get_bytes(uint8_t *b, size_t cap)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, b, cap);
    close(fd);
    return n < 0 ? 0 : (size_t)n;
}
static const char *refused(bf_spec s, int code)
{
    memset(&e, 0, sizeof e);
    if (!s.storage) s.storage = path;
    bf_filter *f = bf_open(&s, &e);
    if (f) {
        FAILED("opened\n");
        bf_close(f);
    }
    CHECK_EQ(e.code, code);
    return e.msg;
}

TEST(handles_share_every_bit)
{
    for (size_t s = 0; native_scheme(s); s++) {
        bf_filter *a = OPEN(.m = 100000, .k = 7, .scheme = native_scheme(s)),
                  *b = OPEN(.m = 100000, .k = 7, .scheme = native_scheme(s)), *c = OPEN(0);
        for (unsigned i = 0; i < 500; i++) {
            add(a, "a", i);
            add(b, "b", i);
        }
        for (unsigned i = 0; i < 500; i++)
            CHECK(has(c, "a", i) && has(c, "b", i) && has(a, "b", i));
        const bf_info i = info_of(c);
        CHECK(!strcmp(i.home, "file") && !strcmp(i.storage, path) && i.k == 7 && !i.read_only);
        bf_filter *copy = must(bf_copy(a, &e), __LINE__),
                  *loaded = must(bf_load(path, NULL, &e), __LINE__);
        CHECK(bf_equal(copy, c, &e) == 1 && bf_equal(loaded, copy, &e) == 1);
        CHECK_EQ(bf_sync(a, &e), 0);
        CLOSE(a, b, c);
        a = OPEN(0);
        CHECK_EQ(bf_equal(a, copy, &e), 1);
        CHECK_EQ(bf_clear(a, &e), 0);
        CHECK_EQ(bf_unite(a, copy, &e), 0);
        CHECK_EQ(bf_equal(a, copy, &e), 1);
        CLOSE(a, copy, loaded);
        remove_it();
    }
}

TEST(other_parameters_leave_the_file)
{
    static uint8_t before[70000], after[70000];
    bf_close(OPEN(.n = 20000, .p = 0.01));
    bf_close(OPEN(.n = 20000, .p = 0.01));
    bf_close(OPEN(.n = 20000));
    size_t len = get_bytes(before, sizeof before);
    CHECK_HAS(refused((bf_spec){ .n = 30000, .p = 0.01 }, BF_EMISMATCH),
        "has n=20000, asked for n=30000");
    CHECK_HAS(
        refused((bf_spec){ .n = 20000, .p = 0.02 }, BF_EMISMATCH), "has p=0.01, asked for p=0.02");
    CHECK_HAS(refused((bf_spec){ .m = 20000, .n = 1000 }, BF_EMISMATCH), "asked for m=20");
    CHECK_HAS(refused((bf_spec){ .n = 20000, .p = 0.01, .scheme = "classic" }, BF_EMISMATCH),
        "has scheme block, asked for scheme classic");
    if (!lacks_sodium())
        CHECK_HAS(
            refused((bf_spec){ .secret = "0123456789abcdef", .secret_len = 16 }, BF_EMISMATCH),
            "not keyed");
    CHECK(get_bytes(after, sizeof after) == len && !memcmp(before, after, len));
    remove_it();
}

TEST(wrong_files)
{
    static uint8_t good[8192], bad[9000];
    bf_filter *f = OPEN(.m = 1000, .k = 3);
    add(f, "x", 1);
    bf_close(f);
    size_t len = get_bytes(good, sizeof good);
    CHECK_EQ(len, 4096 + 128);
    for (size_t i = 0; i < 4096; i++) /* also after adds: the whole header is checked */
        for (int bit = 0; bit < 8; bit += 7) {
            memcpy(bad, good, len);
            bad[i] ^= (uint8_t)(1 << bit);
            put_bytes(bad, len);
            refused((bf_spec){ 0 }, BF_EFORMAT);
            refused((bf_spec){ .m = 1000, .k = 3 }, BF_EFORMAT);
            static uint8_t now[9000];
            CHECK(get_bytes(now, sizeof now) == len && !memcmp(now, bad, len));
        }
    put_bytes("", 0);
    CHECK_HAS(refused((bf_spec){ .m = 1000, .k = 3 }, BF_EFORMAT), "only 0 bytes");
    put_bytes(good, 4095);
    CHECK_HAS(refused((bf_spec){ 0 }, BF_EFORMAT), "truncated: 4095");
    put_bytes(good, len - 1);
    CHECK_HAS(refused((bf_spec){ 0 }, BF_EFORMAT), "truncated");
    memcpy(bad, good, len);
    bad[8] = 9;
    put_bytes(bad, len);
    CHECK_HAS(refused((bf_spec){ 0 }, BF_EFORMAT), "format version 9, this build reads up to 2");
    remove_it();
    CHECK_HAS(refused((bf_spec){ 0 }, BF_ENOENT), "No such file or directory");
    CHECK_EQ(e.sys_errno, ENOENT);
    CHECK_HAS(refused((bf_spec){ .m = 10, .k = 1, .must_exist = true }, BF_ENOENT),
        "No such file or directory");
    CHECK_HAS(refused((bf_spec){ .storage = "/nonexistent/a", .m = 10, .k = 1 }, BF_EIO),
        "/nonexistent/a");
    CHECK_HAS(refused((bf_spec){ .storage = folder, .m = 10, .k = 1 }, BF_EIO), "directory");
    CHECK_HAS(refused((bf_spec){ .storage = folder, .read_only = true }, BF_EIO), "a directory");
    CHECK(mkfifo(path, 0644) == 0);
    CHECK_HAS(refused((bf_spec){ .m = 10, .k = 1 }, BF_EIO), "a FIFO");
    unlink(path);
    CHECK(symlink("/nonexistent/b", path) == 0);
    CHECK_HAS(refused((bf_spec){ .m = 10, .k = 1 }, BF_EIO), "dangling symbolic link");
    remove_it();
}

TEST(damaged_bits_of_a_saved_file)
{
    static uint8_t b[8192];
    bf_filter *f = must(bf_open(&(bf_spec){ .m = 1000, .k = 3 }, &e), __LINE__);
    add(f, "x", 1);
    CHECK_EQ(bf_save(f, path, &e), 0);
    size_t len = get_bytes(b, sizeof b);
    b[4096 + 77] ^= 1;
    put_bytes(b, len);
    CHECK_HAS(refused((bf_spec){ 0 }, BF_EFORMAT), "bits' checksum");
    CHECK_EQ(bf_save(f, path, &e), 0);
    bf_filter *g = OPEN(0); /* a saved file is a mapped file's image */
    CHECK(has(g, "x", 1) == 1 && add(g, "x", 2) == BF_ADDED);
    bf_close(g);
    g = OPEN(0);
    CHECK_EQ(has(g, "x", 2), 1);
    CLOSE(g, f);
    remove_it();
}

TEST(read_only)
{
    bf_filter *f = OPEN(.m = 1000, .k = 3), *r = OPEN(.read_only = true);
    add(f, "x", 1);
    CHECK_EQ(has(r, "x", 1), 1);
    CHECK_REFUSED(add(r, "x", 2), BF_ENOTSUP, "read-only");
    CHECK_EQ(bf_add_many(r, NULL, 0, NULL, &e), BF_ENOTSUP);
    CHECK_EQ(bf_clear(r, &e), BF_ENOTSUP);
    CHECK_EQ(bf_unite(r, f, &e), BF_ENOTSUP);
    CHECK_EQ(bf_sync(r, &e), 0);
    CLOSE(r, f);
    CHECK(chmod(path, 0444) == 0);
    r = OPEN(.m = 1000, .k = 3);
    CHECK(has(r, "x", 1) == 1 && add(r, "x", 2) == BF_ENOTSUP);
    bf_close(r);
    remove_it();
    CHECK_HAS(refused((bf_spec){ .m = 10, .k = 1, .read_only = true }, BF_ENOENT), "No such file");
}

TEST(cut_short_replaced_deleted)
{
    bf_filter *f = OPEN(.m = 1000000, .k = 3);
    bf_key one = { "a", 1 };
    add(f, "x", 1);
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = path }, &e), 1);
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = path, .m = 1000000, .k = 3 }, &e), 1);
    CHECK_EQ(
        bf_is_current(f, &(bf_spec){ .storage = path, .m = 1000001, .k = 3 }, &e), BF_EMISMATCH);
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = path, .read_only = true }, &e), 0);
    CHECK_EQ(bf_is_current(f, NULL, &e), 1);
    if (!lacks_sodium())
        CHECK_EQ(
            bf_is_current(f,
                &(bf_spec){ .storage = path, .secret = "0123456789abcdef", .secret_len = 16 }, &e),
            BF_EMISMATCH);
    char beside[128];
    bf_filter *copy = bf_copy(f, &e);
    CHECK_EQ(bf_is_current(copy, NULL, &e), 1);
    CHECK(truncate(path, 8192) == 0);
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = path }, &e), 0);
    CHECK_EQ(bf_is_current(f, NULL, &e), 0);
    CHECK_REFUSED(bf_test_many(f, &one, 1, NULL, &e), BF_EFORMAT,
        "truncated while it was open: 8192 bytes, it had 129096");
    CHECK_EQ(bf_add_many(f, &one, 1, NULL, &e), BF_EFORMAT);
    CHECK_EQ(bf_sync(f, &e), BF_EFORMAT);
    CHECK_EQ(bf_clear(f, &e), BF_EFORMAT);
    CHECK(!bf_copy(f, &e));
    bf_close(f);
    unlink(path);
    CHECK_EQ(bf_save(copy, path, &e), 0);
    f = OPEN(0);
    snprintf(beside, sizeof beside, "%s.new", path);
    CHECK_EQ(bf_save(copy, beside, &e), 0);
    CHECK_EQ(rename(beside, path), 0); /* replaced under the map: the old file lives on */
    CHECK_EQ(bf_is_current(f, NULL, &e), 0);
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = path }, &e), 0);
    CHECK(has(f, "x", 1) == 1 && bf_add_many(f, &one, 1, NULL, &e) == BF_EIO);
    bf_filter *g = OPEN(0);
    CHECK(has(g, "x", 1) == 1 && has(g, "x", 2) == 0);
    unlink(path);
    CHECK(has(g, "x", 1) == 1 && bf_sync(g, &e) == BF_EIO);
    CLOSE(f, g, copy);
    remove_it();
}

/* cp over a mapped file: same inode, same size, other filter.  Seen at the next batch, at the next
 * opening by bf_is_current. */
TEST(overwritten_in_place)
{
    uint64_t len;
    bf_error why;
    bf_key one = { "a", 1 };
    bf_filter *other = must(bf_open(&(bf_spec){ .m = 1000, .k = 8 }, &e), __LINE__);
    uint8_t *image = paged_bytes(other, &len);
    bf_filter *f = OPEN(.m = 1000, .k = 4);
    add(f, "x", 1);
    int fd = open(path, O_WRONLY);
    CHECK(pwrite(fd, image, len, 0) == (ssize_t)len);
    CHECK_EQ(bf_is_current(f, &(bf_spec){ .storage = path }, &e), 0);
    CHECK_EQ(bf_is_current(f, NULL, &e), 0);
    CHECK_EQ(bf_test_many(f, &one, 1, NULL, &why), BF_EFORMAT);
    CHECK_HAS(why.msg, "was overwritten while it was open");
    CHECK_EQ(bf_add_many(f, &one, 1, NULL, &e), BF_EFORMAT);
    bf_close(f);
    f = OPEN(.m = 1000, .k = 8); /* nothing was written to it meanwhile */
    free(image);
    CLOSE(f, other);
    close(fd);
    remove_it();
}

/* A creator that is killed leaves the whole file or none. */
TEST(killed_creators_leave_nothing)
{
    for (int r = 0; r < 60; r++) {
        pid_t pid = fork();
        if (pid == 0)
            for (;;) {
                unlink(path);
                bf_close(bf_open(&(bf_spec){ .storage = path, .m = 1 << 22, .k = 3 }, NULL));
            }
        nanosleep(&(struct timespec){ 0, 200000 + r * 50000 }, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        CHECK(files_in(folder) <= 1);
        if (access(path, F_OK) == 0) bf_close(OPEN(.read_only = true));
    }
    remove_it();
}

TEST(racing_creators)
{
    enum { PROCESSES = 8, ROUNDS = 40, KEYS = 50 };
    for (int r = 0; r < ROUNDS; r++) {
        for (int p = 0; p < PROCESSES; p++)
            if (fork() == 0) {
                bf_filter *f = OPEN(.n = 10000, .p = 0.001);
                char who[32];
                sprintf(who, "p%d", p);
                for (unsigned i = 0; i < KEYS; i++)
                    if (add(f, who, i) < 0) _exit(2);
                _exit(0);
            }
        for (int status; wait(&status) > 0;) CHECK_EQ(status, 0);
        bf_filter *f = OPEN(0);
        for (int p = 0; p < PROCESSES; p++) {
            char who[32];
            sprintf(who, "p%d", p);
            for (unsigned i = 0; i < KEYS; i++) CHECK_EQ(has(f, who, i), 1);
        }
        bf_close(f);
        remove_it();
    }
}

/* Writers that say which keys they have added, killed at any moment: every key they said is there.
 */
TEST(killed_writers_lose_nothing)
{
    enum { WRITERS = 2 };
    const char *want = getenv("BF_KILLS");
    int rounds = want ? atoi(want) : 30;
    unsigned *said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned long total = 0;
    bf_close(OPEN(.m = 1 << 27, .k = 7, .scheme = "block"));
    for (int r = 0; r < rounds; r++) {
        pid_t pid[WRITERS];
        for (int w = 0; w < WRITERS; w++) {
            said[w] = 0;
            if ((pid[w] = fork()) == 0) {
                bf_filter *f = OPEN(0);
                char who[32];
                sprintf(who, "r%d-w%d", r, w);
                for (unsigned i = 0;; i++) {
                    if (add(f, who, i) < 0) _exit(2);
                    __atomic_store_n(&said[w], i + 1, __ATOMIC_RELEASE);
                }
            }
        }
        nanosleep(&(struct timespec){ 0, 300000 + (r * 7919 % 100) * 20000 }, NULL);
        for (int w = 0; w < WRITERS; w++) kill(pid[w], SIGKILL);
        for (int w = 0; w < WRITERS; w++) {
            int status;
            waitpid(pid[w], &status, 0);
            CHECK(WIFSIGNALED(status));
        }
        bf_filter *f = OPEN(.read_only = true);
        for (int w = 0; w < WRITERS; w++) {
            char who[32];
            sprintf(who, "r%d-w%d", r, w);
            total += said[w];
            for (unsigned i = 0; i < said[w]; i++)
                if (has(f, who, i) != 1) {
                    FAILED("lost %s-%u\n", who, i);
                    break;
                }
        }
        bf_close(f);
    }
    printf("     %d rounds, %lu acknowledged keys\n", rounds, total);
    munmap(said, 4096);
    remove_it();
}

TEST(a_handle_works_on_after_fork)
{
    bf_filter *f = OPEN(.m = 1000000, .k = 7);
    add(f, "parent", 1);
    for (int p = 0; p < 4; p++)
        if (fork() == 0) {
            char who[32];
            sprintf(who, "c%d", p);
            for (unsigned i = 0; i < 2000; i++)
                if (add(f, who, i) < 0) _exit(1);
            bf_close(f);
            _exit(0);
        }
    for (unsigned i = 0; i < 2000; i++) add(f, "parent", i);
    for (int status; wait(&status) > 0;) CHECK_EQ(status, 0);
    for (int p = 0; p < 4; p++) {
        char who[32];
        sprintf(who, "c%d", p);
        for (unsigned i = 0; i < 2000; i++) CHECK_EQ(has(f, who, i), 1);
    }
    for (unsigned i = 0; i < 2000; i++) CHECK_EQ(has(f, "parent", i), 1);
    bf_close(f);
    remove_it();
}

TEST(a_full_disk)
{
    const char *disk = getenv("BF_SMALL_DISK");
    if (!disk) {
        printf("     no small disk given: BF_SMALL_DISK\n");
        return;
    }
    char there[PATH_MAX];
    snprintf(there, sizeof there, "%s/f.bloom", disk);
    CHECK_HAS(refused((bf_spec){ .storage = there, .m = UINT64_C(1) << 33, .k = 1 }, BF_EIO),
        "No space left on device");
    CHECK_EQ(e.sys_errno, ENOSPC);
    CHECK_EQ(files_in(disk), 0);
    bf_filter *big = must(bf_open(&(bf_spec){ .m = UINT64_C(1) << 28, .k = 1 }, &e), __LINE__);
    CHECK_EQ(bf_save(big, there, &e), BF_EIO);
    CHECK_EQ(e.sys_errno, ENOSPC);
    CHECK_EQ(files_in(disk), 0);
    bf_close(big);
}

int main(void) { return main_in_folder(); }
