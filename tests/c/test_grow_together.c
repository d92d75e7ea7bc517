/* test_grow_together.c - one growing filter, several at it: processes, children, threads, kill -9
 * in the middle of growing, a disk that is full.  BF_KILLS sets the rounds of kill -9 (30).  About
 * core/home/file_parts.c, core/parts/grow.c. */
#define _GNU_SOURCE
#include "growing_keys.h"

enum { WORKERS = 4, EACH = 15000 };

static int worker(int w, bool shared_handle, bf_filter *f)
{
    int bad = 0;
    if (!shared_handle)
        f = bf_open(&(bf_spec){ .n = 200, .p = 0.01, .grow = 2, .storage = path }, &e);
    if (!f) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    for (unsigned i = 0; i < EACH; i++) {
        bad += add(f, (char)('a' + w), i) < 0;
        if (i % 50 == 0) bad += has(f, (char)('a' + w), i / 2) != 1;
        if (i % 3000 == 0) bad += many(f, false, (char)('a' + w), 0, i + 1, NULL) != i + 1;
    }
    if (!shared_handle) bf_close(f);
    return bad;
}

static void processes(bool shared_handle)
{
    int status;
    bf_filter *f = OPEN(.n = 200, .p = 0.01, .grow = 2, .storage = path);
    for (int w = 0; w < WORKERS; w++)
        if (fork() == 0) _exit(worker(w, shared_handle, f) != 0);
    for (int w = 0; w < WORKERS; w++) {
        wait(&status);
        CHECK_EQ(status, 0);
    }
    for (int w = 0; w < WORKERS; w++)
        CHECK_EQ(
            many(f, false, (char)('a' + w), 0, EACH, NULL), EACH); /* opened before they grew it */
    rate_is(f, 0.011, 200000);
    bf_filter *again = OPEN(.storage = path), *alone = OPEN(.n = 200, .p = 0.01, .grow = 2);
    CHECK_EQ(bf_equal(again, f, &e), 1);
    many(alone, true, 'k', 0, WORKERS * EACH, NULL);
    CHECK_EQ(parts_of(again), parts_of(alone)); /* nobody grew it for nothing */
    CLOSE(again, f, alone);
    unlink(path);
}
TEST(processes_grow_one_file) { processes(false); }
TEST(children_use_their_parents_handle) { processes(true); }

typedef struct {
    bf_filter *f;
    int w, bad;
} job;
static void *thread(void *p)
{
    job *j = p;
    for (unsigned i = 0; i < EACH; i++) {
        name t;
        bf_key k = key_of(&t, (char)('a' + j->w), i);
        j->bad += bf_add(j->f, k.ptr, k.len, NULL) < 0;
        j->bad += bf_test(j->f, k.ptr, k.len, NULL) != 1;
    }
    return NULL;
}

TEST(threads_grow_one_filter)
{
    for (int file = 0; file < 2; file++) {
        bf_filter *f =
            OPEN(.n = 200, .p = 0.01, .grow = 2, .storage = file ? path : NULL, .threads = true);
        pthread_t t[WORKERS];
        job j[WORKERS];
        for (int w = 0; w < WORKERS; w++) {
            j[w] = (job){ f, w, 0 };
            pthread_create(t + w, NULL, thread, j + w);
        }
        for (int w = 0; w < WORKERS; w++) {
            pthread_join(t[w], NULL);
            CHECK_EQ(j[w].bad, 0);
        }
        for (int w = 0; w < WORKERS; w++)
            CHECK_EQ(many(f, false, (char)('a' + w), 0, EACH, NULL), EACH);
        bf_close(f);
    }
    unlink(path);
}

/* What was acknowledged before a kill -9 is there, and others go on, wherever the growing was. */
TEST(killed_while_it_grows)
{
    const char *text = getenv("BF_KILLS");
    const int rounds = text ? atoi(text) : 30;
    uint64_t *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
             total = 0;
    unsigned seed = 1;
    for (int r = 0; r < rounds; r++) {
        if (r % 10 == 0) {
            unlink(path);
            *done = total = 0;
        }
        pid_t child = fork();
        if (child == 0) {
            bf_filter *f = bf_open(&(bf_spec){ .n = 10, .p = 0.01, .grow = 1.1, .storage = path },
                NULL); /* grows all the time */
            if (!f) _exit(1);
            for (uint64_t i = total;; i++) {
                if (add(f, 'k', i) < 0) _exit(1);
                __atomic_store_n(done, i + 1, __ATOMIC_SEQ_CST);
            }
        }
        seed = seed * 1103515245 + 12345;
        nanosleep(&(struct timespec){ 0, 1000000 + seed / 65536 % 30000 * 1000 }, NULL);
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status));
        total = *done;
        if (access(path, F_OK) != 0) continue;
        bf_filter *f = OPEN(.storage = path);
        CHECK_EQ(many(f, false, 'k', 0, total, NULL), total);
        bf_close(f);
    }
    /* The same by hand: a part that was begun and never published. */
    struct stat st;
    bf_filter *f = OPEN(.n = 10, .p = 0.01, .grow = 1.1, .storage = path);
    many(f, true, 'm', 0, 100, NULL);
    CHECK_EQ(stat(path, &st), 0);
    CHECK_EQ(truncate(path, st.st_size + 50000), 0);
    int fd = open(path, O_WRONLY);
    CHECK(pwrite(fd, "rubbish", 7, st.st_size + 5000) == 7);
    close(fd);
    bf_filter *g = OPEN(.storage = path);
    CHECK(many(g, true, 'm', 100, 60000, NULL) > 59000);
    CHECK_EQ(many(g, false, 'm', 0, 60100, NULL), 60100);
    CHECK_EQ(many(f, false, 'm', 0, 60100, NULL), 60100);
    rate_is(f, 0.01, 100000);
    CHECK_EQ(stat(path, &st), 0);
    CHECK_EQ(
        truncate(path, st.st_size / 2), 0); /* its end may be room that no part has taken yet */
    CHECK_REFUSED(many(f, false, 'm', 0, 10, NULL), BF_EFORMAT, "truncated");
    CHECK(!bf_open(&(bf_spec){ .storage = path }, &e) && e.code == BF_EFORMAT);
    CLOSE(f, g);
    unlink(path);
    munmap(done, 4096);
}

TEST(a_full_disk)
{
    const char *disk = getenv("BF_SMALL_DISK");
    if (!disk) SKIP("BF_SMALL_DISK is not set, there was no right to mount");
    char where[256];
    snprintf(where, sizeof where, "%s/grow", disk);
    bf_filter *f = OPEN(.n = 1000, .p = 0.01, .grow = 2, .storage = where);
    uint64_t i = 0;
    int rc;
    while ((rc = add(f, 'k', i)) >= 0 && i < 2000000) i++;
    CHECK_EQ(rc, BF_EIO);
    CHECK_HAS(e.msg, "cannot allocate space to grow in");
    CHECK_EQ(many(f, false, 'k', 0, i, NULL), i); /* all before it stands */
    CHECK_EQ(add(f, 'k', 5), BF_PRESENT);
    bf_filter *g = OPEN(.storage = where);
    CHECK_EQ(many(g, false, 'k', 0, i, NULL), i);
    CLOSE(g, f);
    unlink(where);
}

int main(void) { return main_in_folder(); }
