/* test_race.c - several threads and processes in one filter: nothing lost, somebody always told
 * "new", tests meanwhile. Runs under TSan too (scripts/test --deep). Runs with both kernels. */
#define _GNU_SOURCE
#include "../../core/bloomfilter.h"
#include "check.h"
#include "native.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, KEYS = 20000, BATCH = 100 };
typedef struct {
    bf_filter *f;
    int id;
    bool same, one_by_one;
    uint8_t *won;
} job;

static size_t text_of(char t[32], const job *j, unsigned i)
{
    return (size_t)(j->same ? sprintf(t, "k%u", i) : sprintf(t, "w%d-%u", j->id, i));
}

static void work(const job *j)
{
    static _Thread_local char text[BATCH][32];
    bf_key keys[BATCH];
    for (unsigned i = 0; i < KEYS; i += BATCH) {
        for (unsigned b = 0; b < BATCH; b++)
            keys[b] = (bf_key){ text[b], text_of(text[b], j, i + b) };
        if (j->one_by_one)
            for (unsigned b = 0; b < BATCH; b++)
                j->won[i + b] = bf_add(j->f, keys[b].ptr, keys[b].len, NULL) == BF_ADDED;
        else
            bf_add_many(j->f, keys, BATCH, j->won + i, NULL);
        if (bf_test_many(j->f, keys, BATCH, NULL, NULL) != BATCH)
            j->won[0] = 77; /* my own keys are there at once */
    }
}
static void *thread(void *p)
{
    work(p);
    return NULL;
}

static void all_there(bf_filter *f, const job *jobs, bool same)
{
    unsigned lost = 0, nobody = 0;
    for (int w = 0; w < WORKERS; w++)
        for (unsigned i = 0; i < KEYS; i++) {
            char t[32];
            size_t n = text_of(t, jobs + w, i);
            lost += bf_test(f, t, n, NULL) != 1;
        }
    CHECK_EQ(lost, 0);
    for (int w = 0; w < WORKERS; w++) CHECK(jobs[w].won[0] != 77);
    if (!same) return;
    bf_info in;
    bf_get_info(f, &in);
    bf_filter *serial = bf_open(&(bf_spec){ .m = in.m, .k = in.k, .scheme = in.scheme }, NULL);
    for (unsigned i = 0; i < KEYS; i++) { /* "new" to nobody only where all its bits were others' */
        char t[32];
        int wins = 0;
        for (int w = 0; w < WORKERS; w++) wins += jobs[w].won[i];
        nobody += wins == 0;
        bf_add(serial, t, text_of(t, jobs, i), NULL);
    }
    bf_state st;
    bf_get_state(serial, &st, NULL);
    CHECK_EQ(bf_equal(serial, f, NULL), 1);
    CHECK(nobody <= KEYS * st.fpr + 5);
    bf_close(serial);
}

static void race(const char *scheme, bool file, bool processes, bool same, bool one_by_one)
{
    char path[] = "/tmp/bf-race-XXXXXX";
    bf_error e;
    if (file) {
        int fd = mkstemp(path);
        close(fd);
        unlink(path);
    }
    bf_filter *f = bf_open(&(bf_spec){ .m = 1 << 21,
                               .k = 7,
                               .scheme = scheme,
                               .storage = file ? path : NULL,
                               .threads = true },
        &e);
    CHECK(f != NULL);
    uint8_t *won =
        mmap(NULL, WORKERS * KEYS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    job jobs[WORKERS];
    pthread_t t[WORKERS];
    for (int w = 0; w < WORKERS; w++) {
        jobs[w] = (job){ f, w, same, one_by_one, won + w * KEYS };
        if (!processes)
            pthread_create(&t[w], NULL, thread, &jobs[w]);
        else if (fork() == 0) {
            work(&jobs[w]);
            _exit(0);
        }
    }
    for (int w = 0; w < WORKERS; w++) {
        int status;
        if (processes)
            wait(&status);
        else
            pthread_join(t[w], NULL);
    }
    all_there(f, jobs, same);
    munmap(won, WORKERS * KEYS);
    bf_close(f);
    if (file) unlink(path);
}

static void every_way(bool file, bool processes)
{
    for (size_t s = 0; native_scheme(s); s++)
        for (int i = 0; i < 4; i++) race(native_scheme(s), file, processes, i & 1, i & 2);
}
static void threads_in_memory(void) { every_way(false, false); }
static void threads_on_a_file(void) { every_way(true, false); }
static void processes_on_a_file(void) { every_way(true, true); }

int main(void)
{
    RUN(threads_in_memory);
    RUN(threads_on_a_file);
    RUN(processes_on_a_file);
    return FINISH();
}
