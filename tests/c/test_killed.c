/* test_killed.c - writers to a mapped file that are killed at any moment: every key that they said
 * was added is there, but for those that they then took out, and others go on.  Creators:
 * test_file_names.c; a part that is emptied: test_window.c; rebuilds: test_rebuild.c.  BF_KILLS
 * sets the rounds for each kind of filter (20).  About core/home/file.c, core/home/file_parts.c. */
#define _GNU_SOURCE
#include "growing_keys.h"
#include "numbers.h"

static const bf_spec kinds[] = {
    { .n = 1000000, .p = 1e-6, .storage = path },
    { .n = 1000000, .p = 1e-6, .storage = path, .counting = true },
    { .n = 10, .p = 1e-7, .grow = 1.1, .storage = path }, /* grows all the time */
    { .n = 10, .p = 1e-7, .grow = 1.1, .storage = path, .counting = true },
};
enum { WRITERS = 2, IN_A_ROUND = 50000 };
typedef struct {
    uint64_t added; /* acknowledged */
    uint64_t taken; /* keys 0, 2, 4 ..., of which the last may be half done */
} progress;
static progress *done;

static void write_until_killed(const bf_spec *s, unsigned w)
{
    bf_filter *f = bf_open(s, NULL);
    name t;
    const uint64_t enough = done[w].added + IN_A_ROUND;
    for (uint64_t i = done[w].added; f; i++) {
        while (i == enough) pause(); /* who kills it stalls */
        if (add(f, (char)('a' + w), i) < 0) break;
        __atomic_store_n(&done[w].added, i + 1, __ATOMIC_SEQ_CST);
        if (!s->counting || i % 2 == 0 || done[w].taken > i / 2) continue;
        const bf_key k = key_of(&t, (char)('a' + w), i / 2 * 2);
        __atomic_store_n(&done[w].taken, i / 2 + 1, __ATOMIC_SEQ_CST);
        if (bf_remove(f, k.ptr, k.len, &e) != 1) break;
    }
    _exit(1);
}

TEST(writers_lose_nothing)
{
    const char *text = getenv("BF_KILLS");
    const int rounds = text ? atoi(text) : 20;
    uint32_t seed = 1;
    done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t kind = 0; kind < COUNT(kinds); kind++)
        for (int r = 0; r < rounds; r++) {
            pid_t pid[WRITERS];
            if (r % 10 == 0) {
                unlink(path);
                memset(done, 0, WRITERS * sizeof *done);
            }
            for (unsigned w = 0; w < WRITERS; w++)
                if ((pid[w] = fork()) == 0) write_until_killed(&kinds[kind], w);
            seed = seed * 1103515245 + 12345;
            nanosleep(&(struct timespec){ 0, 500000 + seed / 65536 % 10000 * 1000 }, NULL);
            for (unsigned w = 0; w < WRITERS; w++) kill(pid[w], SIGKILL);
            for (unsigned w = 0; w < WRITERS; w++) {
                int status;
                CHECK(waitpid(pid[w], &status, 0) == pid[w] && WIFSIGNALED(status));
            }
            if (access(path, F_OK) != 0) continue;
            bf_filter *f = MADE(&kinds[kind]);
            unsigned lost = 0;
            for (unsigned w = 0; w < WRITERS; w++)
                for (uint64_t i = 0; i < done[w].added; i++)
                    if (i % 2 || i / 2 >= done[w].taken) lost += has(f, (char)('a' + w), i) != 1;
            CHECK_EQ(lost, 0);
            CHECK(add(f, 'z', (uint64_t)r) >= 0 && has(f, 'z', (uint64_t)r) == 1);
            bf_close(f);
        }
    unlink(path);
    munmap(done, 4096);
}

/* A part that was begun and never published, with rubbish in it. */
TEST(room_that_no_part_has_taken)
{
    struct stat st;
    bf_filter *f = OPEN(.n = 10, .p = 0.01, .grow = 1.1, .storage = path);
    many(f, true, 'm', 0, 100, NULL);
    CHECK(stat(path, &st) == 0 && truncate(path, st.st_size + 50000) == 0);
    const int fd = open(path, O_WRONLY);
    CHECK(pwrite(fd, "rubbish", 7, st.st_size + 5000) == 7);
    close(fd);
    bf_filter *g = OPEN(.storage = path);
    CHECK(many(g, true, 'm', 100, 60000, NULL) > 59000);
    CHECK_EQ(many(g, false, 'm', 0, 60100, NULL), 60100);
    CHECK_EQ(many(f, false, 'm', 0, 60100, NULL), 60100);
    rate_is(f, 0.01, 100000);
    CLOSE(f, g);
    unlink(path);
}

int main(void) { return main_in_folder(); }
