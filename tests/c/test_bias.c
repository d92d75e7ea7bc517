/* test_bias.c - the only writer of a mapped file writes plain words until others come: real
 * processes that open and close in turn, fork, are stopped and killed.  No key whose add returned
 * is lost.  BLOOMFILTER_ROUNDS: how many rounds of each kind. */
/* wraps: nanosleep syscall fcntl fstatfs */
#include "../../core/base/system.h"
#include "../../core/home/file.h"
#include "../../core/bloomfilter.h"
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WHO = 5, MANY = 1600, FEW = 80, UNTIL_ALONE = 1 << 14 };
enum { SECOND, KILLED, STOPPED, FORKED, THREADS, IN_TURN, KINDS };
static const char *const kinds[] = { "a second process", "killed", "stopped", "forked", "threads",
    "in turn" };
static char path[80];
static struct {
    atomic_int alone, go, beside;
    atomic_uint done[WHO]; /* keys whose add has returned */
    atomic_int failed;
} *shared;
static bf_error e;

/* Ten seconds of waiting pass at once. */
static bool hurry;
static unsigned naps;
int __real_nanosleep(const struct timespec *, struct timespec *);
int __wrap_nanosleep(const struct timespec *, struct timespec *);
int __wrap_nanosleep(const struct timespec *want, struct timespec *left)
{
    naps += hurry;
    return hurry ? 0 : __real_nanosleep(want, left);
}

/* A layer above the owner's file system, or another machine: its locks are not seen there. */
static bool elsewhere;
int __real_fcntl(int, int, ...);
int __wrap_fcntl(int, int, ...);
int __wrap_fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (!elsewhere || command != F_OFD_GETLK) return __real_fcntl(fd, command, argument);
    ((struct flock *)argument)->l_type = F_UNLCK;
    return 0;
}
int __real_fstatfs(int, struct statfs *);
int __wrap_fstatfs(int, struct statfs *);
int __wrap_fstatfs(int fd, struct statfs *to)
{
    const int rc = __real_fstatfs(fd, to);
    if (elsewhere) to->f_type = 0x794C7630; /* overlayfs */
    return rc;
}

static bool refused; /* membarrier, by a filter of system calls */
static int barriers; /* asked of all, so far */
long __real_syscall(long, ...);
long __wrap_syscall(long, ...);
long __wrap_syscall(long number, ...)
{
    va_list rest;
    va_start(rest, number);
    const int command = va_arg(rest, int);
    va_end(rest);
    barriers += number == SYS_membarrier && command == 2;
    if (refused) return -1;
    return __real_syscall(number, command, 0, 0);
}

static bf_filter *open_(bool read_only)
{
    return bf_open(&(bf_spec){ .m = read_only ? 0 : 16384,
                       .n = read_only ? 0 : 1000,
                       .k = read_only ? 0 : 2,
                       .scheme = read_only ? NULL : "classic",
                       .storage = path,
                       .read_only = read_only },
        &e);
}
static bool alone(const bf_filter *f)
{
    const bf_bias *b = f->part.store.bias;
    return b && b->on && *b->turns == b->sole;
}
static uint64_t *page_of(const bf_filter *f)
{
    return (uint64_t *)(void *)((const bf_file *)f->part.store.impl)->map;
}
static bool at_rest(const bf_filter *f)
{
    uint8_t *page = (uint8_t *)page_of(f);
    return *bf_header_turns(page) == bf_turns_word(BF_SHARED) && *bf_header_inside(page) == 0;
}

static void add_some(bf_filter *f, int who, unsigned n, bool batch)
{
    char text[8][16];
    bf_key keys[8];
    unsigned i = atomic_load(&shared->done[who]);
    for (const unsigned end = i + n; i < end;) {
        unsigned c = batch ? 8 : 1;
        for (unsigned j = 0; j < c; j++) {
            keys[j].len = (size_t)snprintf(text[j], sizeof text[j], "%d-%u", who, i + j);
            keys[j].ptr = text[j];
        }
        const int64_t rc =
            batch ? bf_add_many(f, keys, c, NULL, &e) : bf_add(f, keys[0].ptr, keys[0].len, &e);
        if (rc < 0) {
            fprintf(stderr, "%s\n", e.msg);
            atomic_store(&shared->failed, 1);
            return;
        }
        atomic_store_explicit(&shared->done[who], i += c, memory_order_release);
    }
}
/* The bits of one key, until the file is its alone; or not. */
static bool become_owner(bf_filter *f)
{
    for (unsigned i = 0; i <= UNTIL_ALONE; i++) bf_add(f, "same", 4, NULL);
    return alone(f);
}
static void until(atomic_int *flag)
{
    while (!atomic_load(flag)) sched_yield();
}
static void nap(unsigned us) { nanosleep(&(struct timespec){ 0, us * 1000L }, NULL); }

/* ---- who takes part ---- */
static void *another_thread(void *f)
{
    atomic_store(&shared->beside, 1);
    add_some(f, 2, MANY / 2, false);
    return NULL;
}
static void owner(int kind, bool batch)
{
    pthread_t thread;
    bf_filter *f = open_(false);
    if (!f || !become_owner(f)) atomic_store(&shared->failed, 2);
    atomic_store(&shared->alone, 1);
    until(&shared->go);
    add_some(f, 0, FEW, batch);
    pid_t child = kind == FORKED ? fork() : 0;
    if (kind == FORKED && child == 0) {
        atomic_store(&shared->beside, 1);
        add_some(f, 2, MANY / 2, batch);
        bf_close(f);
        _exit(0);
    }
    if (kind == THREADS) pthread_create(&thread, NULL, another_thread, f);
    if (kind == THREADS || kind == FORKED) until(&shared->beside);
    add_some(f, 0, MANY, batch);
    if (kind == THREADS) pthread_join(thread, NULL);
    if (kind == FORKED) waitpid(child, NULL, 0);
    bf_close(f);
    _exit(0);
}
static void other(int who, int kind, bool batch, unsigned seed)
{
    bf_filter *f = seed & 1 ? open_(false) : NULL;
    until(&shared->go);
    for (volatile unsigned i = 0; i < seed / 2 % 4096; i++) {}
    for (int i = 0; i < (kind == IN_TURN ? 8 : 1); i++) {
        if (!f) f = open_(false);
        if (!f) {
            fprintf(stderr, "%s\n", e.msg);
            atomic_store(&shared->failed, 1);
            break;
        }
        add_some(f, who, kind == IN_TURN ? 8 : MANY / 2, batch);
        bf_close(f);
        f = NULL;
    }
    _exit(0);
}

/* ---- a round ---- */
static unsigned lost(void)
{
    unsigned n = 0;
    bf_filter *f = open_(true);
    if (!f) fprintf(stderr, "%s\n", e.msg);
    for (int who = 0; f && who < WHO; who++)
        for (unsigned i = 0; i < atomic_load(&shared->done[who]); i++) {
            char text[16];
            const int len = snprintf(text, sizeof text, "%d-%u", who, i);
            n += bf_test(f, text, (size_t)len, NULL) != 1;
        }
    bf_close(f);
    return n + !f;
}
static unsigned random_(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 20);
}
static bool one_round(int kind)
{
    pid_t pid[WHO];
    const int others = kind == IN_TURN ? 3 : kind == FORKED || kind == THREADS ? 0 : 1;
    const bool batch = random_() & 1;
    unlink(path);
    memset(shared, 0, sizeof *shared);
    if ((pid[0] = fork()) == 0) owner(kind, batch);
    until(&shared->alone);
    for (int i = 0; i < others; i++) {
        const unsigned seed = random_();
        if ((pid[1 + i] = fork()) == 0) other(i ? 2 + i : 1, kind, seed & 2, seed >> 2);
    }
    if (others) nap(200);
    atomic_store(&shared->go, 1);
    for (volatile unsigned i = 0; i < random_() % 8192; i++) {}
    if (kind == KILLED) kill(pid[0], SIGKILL);
    if (kind == STOPPED) {
        kill(pid[0], SIGSTOP);
        nap(300);
        kill(pid[0], SIGCONT);
    }
    for (int i = 0; i <= others; i++) waitpid(pid[i], NULL, 0);
    const unsigned gone = lost();
    bf_filter *f = open_(false);
    const bool good = gone == 0 && atomic_load(&shared->failed) == 0 && f && at_rest(f);
    if (!good)
        fprintf(stderr, "%s: %u keys lost, failed %d, at rest %d\n", kinds[kind], gone,
            atomic_load(&shared->failed), f && at_rest(f));
    bf_close(f);
    return good;
}

static bool there_is_bias(void)
{
    unlink(path);
    bf_filter *f = open_(false);
    const bool yes = f && become_owner(f);
    bf_close(f);
    return yes;
}
static void no_key_is_lost(void)
{
    const char *asked = getenv("BLOOMFILTER_ROUNDS");
    const int rounds = asked ? atoi(asked) : SHORT(60, 10);
    if (!there_is_bias()) SKIP("no leases, membarrier or locks of open file descriptions here");
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < rounds; i++)
            if (!one_round(kind)) {
                CHECK(false);
                break;
            }
}

/* ---- alone or not ---- */
static void who_is_alone(void)
{
    if (!there_is_bias()) SKIP("no leases, membarrier or locks of open file descriptions here");
    unlink(path);
    bf_filter *f = open_(false), *reader = open_(true);
    CHECK(!become_owner(f)); /* a reader could be a writer of an older version */
    bf_close(reader);
    for (int i = 0; i < 4 && !alone(f); i++) become_owner(f);
    CHECK(alone(f));
    CHECK_EQ(*bf_header_turns((uint8_t *)page_of(f)), bf_turns_word(BF_SOLE));
    reader = open_(true);
    CHECK_EQ(bf_test(reader, "same", 4, &e), 1);
    CHECK_EQ(bf_add(f, "more", 4, &e), 1);
    CHECK(alone(f));
    CHECK_EQ(bf_test(reader, "more", 4, &e), 1);
    bf_close(reader);
    bf_filter *second = open_(false); /* who only tests leaves it alone */
    CHECK_EQ(bf_test(second, "more", 4, &e), 1);
    CHECK_EQ(bf_add(f, "again", 5, &e), 1);
    CHECK(alone(f));
    CHECK_EQ(barriers, 0);
    CHECK_EQ(bf_add(second, "theirs", 6, &e), 1);
    CHECK_EQ(barriers, 1); /* without it keys are lost so rarely that no round shows it */
    CHECK(at_rest(f));
    CHECK_EQ(bf_add(f, "mine", 4, &e), 1);
    CHECK(!alone(f));
    CHECK(at_rest(f));
    bf_close(second);
    CHECK(!become_owner(f)); /* this handle never again */
    bf_close(f);
    f = open_(false);
    CHECK(become_owner(f));
    CHECK_EQ(bf_clear(f, &e), 0);
    CHECK(alone(f));
    CHECK_EQ(bf_test(f, "mine", 4, &e), 0);
    bf_close(f);
    reader = open_(true); /* which settles nothing */
    CHECK(at_rest(reader));
    bf_close(reader);
}

static void *adds_one(void *f)
{
    bf_add(f, "beside", 6, &e);
    return NULL;
}
static void by_fork(bf_filter *f)
{
    const pid_t child = fork();
    if (child == 0) {
        adds_one(f);
        bf_close(f);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}
static void by_thread(bf_filter *f)
{
    pthread_t thread;
    pthread_create(&thread, NULL, adds_one, f);
    pthread_join(thread, NULL);
}
static void others_of_one_handle(void)
{
    void (*const by[])(bf_filter *) = { by_fork, by_thread };
    if (!there_is_bias()) SKIP("no leases, membarrier or locks of open file descriptions here");
    for (int i = 0; i < 4; i++) {
        unlink(path);
        bf_filter *f = open_(false);
        CHECK_EQ(bf_add(f, "first", 5, &e), 1);
        if (i < 2) CHECK(become_owner(f));
        by[i % 2](f);
        CHECK(at_rest(f));
        CHECK(!become_owner(f)); /* nor later */
        CHECK_EQ(bf_test(f, "beside", 6, &e), 1);
        bf_close(f);
    }
}

/* A page that is not written to need not go to the disk. */
static uint8_t *barred;
static volatile sig_atomic_t writes;
static void on_write(int signal)
{
    (void)signal;
    writes++;
    mprotect(barred, 4096, PROT_READ | PROT_WRITE);
}
static void a_key_that_is_present_is_not_written(void)
{
    if (!there_is_bias()) SKIP("no leases, membarrier or locks of open file descriptions here");
    signal(SIGSEGV, on_write);
    for (unsigned i = 0; i < 4; i++) {
        const bool batch = i & 1;
        const unsigned hashes = i < 2 ? 2 : 20;
        unlink(path);
        bf_filter *f = bf_open(
            &(bf_spec){ .m = 16384, .n = 1000, .k = hashes, .scheme = "classic", .storage = path },
            &e);
        become_owner(f);
        for (int pass = 0; pass < 2; pass++) {
            const bf_key keys[] = { { "same", 4 }, { "one", 3 }, { "same", 4 } };
            writes = 0;
            barred = (uint8_t *)f->part.store.words;
            mprotect(barred, 4096, PROT_READ);
            if (batch)
                CHECK_EQ(bf_add_many(f, keys, 3, NULL, &e), pass == 0);
            else
                CHECK_EQ(bf_add(f, "one", 3, &e), pass == 0);
            CHECK_EQ(writes, pass == 0);
            CHECK_EQ(bf_test(f, "one", 3, &e), 1);
            mprotect(barred, 4096, PROT_READ | PROT_WRITE);
        }
        CHECK(alone(f));
        bf_close(f);
    }
    signal(SIGSEGV, SIG_DFL);
}

/* One that is stopped inside is not written beside. */
static void a_stopped_owner_is_an_error(void)
{
    if (!there_is_bias()) SKIP("no leases, membarrier or locks of open file descriptions here");
    unlink(path);
    bf_filter *f = open_(false), *second;
    become_owner(f);
    second = open_(false);
    *bf_header_inside((uint8_t *)page_of(f)) = bf_edition_word(1);
    hurry = true;
    CHECK_REFUSED(bf_add(second, "x", 1, &e), BF_EIO, "let it go on or end it");
    hurry = false;
    CHECK_EQ(bf_add(f, "y", 1, &e), 1); /* it goes on, and leaves */
    CHECK_EQ(bf_add(second, "x", 1, &e), 1);
    CHECK(at_rest(f));
    bf_close(f);
    bf_close(second);
}

/* No lock is no proof there, and a barrier need not reach the owner: whoever comes waits until an
 * owner outside must have seen that it was revoked. */
static void an_owner_who_cannot_be_seen(void)
{
    if (!there_is_bias()) SKIP("no leases, membarrier or locks of open file descriptions here");
    for (int inside = 0; inside < 2; inside++) {
        unlink(path);
        bf_filter *f = open_(false);
        CHECK(become_owner(f));
        *bf_header_inside((uint8_t *)page_of(f)) = inside ? bf_edition_word(1) : 0;
        elsewhere = hurry = true;
        naps = 0;
        bf_filter *second = open_(false);
        CHECK(alone(f)); /* to open it ends nothing */
        CHECK_EQ(bf_add(second, "x", 1, &e), 1);
        CHECK(naps >= 1000);
        elsewhere = hurry = false;
        CHECK(at_rest(f));
        CHECK_EQ(bf_add(f, "y", 1, &e), 1);
        CHECK(!alone(f));
        bf_close(second);
        bf_close(f);
    }
}
static void without_membarrier_an_owner_at_rest_is_waited_for(void)
{
    if (!there_is_bias()) SKIP("no leases, membarrier or locks of open file descriptions here");
    unlink(path);
    bf_filter *f = open_(false), *second;
    CHECK(become_owner(f));
    second = open_(false);
    refused = hurry = true;
    naps = 0;
    CHECK_EQ(bf_add(second, "x", 1, &e), 1);
    CHECK(naps >= 1000);
    refused = hurry = false;
    CHECK(at_rest(f));
    bf_close(second);
    bf_close(f);
}

/* The host closed all descriptors, and its number leads to another file by now: who has that open
 * says nothing. */
static void a_descriptor_that_the_host_closed(void)
{
    if (!there_is_bias()) SKIP("no leases, membarrier or locks of open file descriptions here");
    char other[96];
    snprintf(other, sizeof other, "%s.other", path);
    unlink(path);
    bf_filter *f = open_(false), *second = open_(false);
    const int fd = open(other, O_RDWR | O_CREAT, 0600), own = ((bf_file *)f->part.store.impl)->fd;
    CHECK_EQ(bf_add(second, "theirs", 6, &e), 1); /* by locked words from now on */
    CHECK_EQ(dup2(fd, own), own);
    close(fd);
    CHECK(!become_owner(f));
    CHECK_EQ(*bf_header_turns((uint8_t *)page_of(f)), bf_turns_word(BF_SHARED));
    bf_close(f);
    bf_close(second);

    unlink(path); /* the same of who comes: no lock on that file is no proof */
    f = open_(false);
    CHECK(become_owner(f));
    second = open_(false);
    CHECK(dup2(open(other, O_RDWR), ((bf_file *)second->part.store.impl)->fd) >= 0);
    *bf_header_inside((uint8_t *)page_of(f)) = bf_edition_word(1);
    hurry = true;
    CHECK_REFUSED(bf_add(second, "x", 1, &e), BF_EIO, "open the filter again");
    hurry = false;
    bf_close(second);
    bf_close(f);
    unlink(other);
}

int main(void)
{
    char folder[40];
    snprintf(folder, sizeof folder, "%s/bfbiasXXXXXX",
        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/f.bloom", folder);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    RUN(who_is_alone);
    RUN(others_of_one_handle);
    RUN(a_key_that_is_present_is_not_written);
    RUN(no_key_is_lost);
    RUN(a_stopped_owner_is_an_error);
    RUN(an_owner_who_cannot_be_seen);
    RUN(without_membarrier_an_owner_at_rest_is_waited_for);
    RUN(a_descriptor_that_the_host_closed);
    unlink(path);
    rmdir(folder);
    return FINISH();
}
