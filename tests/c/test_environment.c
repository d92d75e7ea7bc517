/* test_environment.c - what the process around the library may be like: without standard
 * descriptors, with a limit on file sizes, small stacks, signals all the time, a lock that
 * somebody holds for ever, a name with several addresses.  What each call to the system answers
 * otherwise is test_system.c's and test_failing_calls.c's.  About core/base/os_linux.c,
 * core/home/file.c. */
/* wraps: posix_fallocate flock nanosleep clock_gettime getaddrinfo freeaddrinfo */
#define _GNU_SOURCE
#include "../../core/parts/parts.h"
#include "folder.h"
#include "must.h"
#include "own_clock.h"
#include "redis_server.h"
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/time.h>

/* ---- the calls that can be made otherwise ---- */
static int allocate_errno, allocate_times;
static long long allocations, allocated;
static int addresses; /* how many a name has; all but the last are dead */

REPLACED(int, posix_fallocate, (int fd, off_t at, off_t n))
{
    allocations++;
    if (allocate_times != 0) {
        allocate_times--;
        return allocate_errno;
    }
    if (at + n > allocated) allocated = at + n;
    return __real_posix_fallocate(fd, at, n);
}
static void (*at_lock)(void);
REPLACED(int, flock, (int fd, int how))
{
    if (how & LOCK_EX && at_lock) at_lock();
    if (how == LOCK_EX) {
        errno = EDEADLK;
        return -1;
    } /* would wait without limit */
    return __real_flock(fd, how);
}
static struct addrinfo nodes[8];
static struct sockaddr_in where[8];
REPLACED(int, getaddrinfo,
    (const char *host, const char *port, const struct addrinfo *want, struct addrinfo **all))
{
    if (addresses == 0) return __real_getaddrinfo(host, port, want, all);
    for (int i = 0; i < addresses; i++) {
        where[i] = (struct sockaddr_in){ .sin_family = AF_INET,
            .sin_port = htons((uint16_t)atoi(port)),
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(addresses - 1 - i)) };
        nodes[i] = (struct addrinfo){ .ai_family = AF_INET,
            .ai_socktype = SOCK_STREAM,
            .ai_addr = (struct sockaddr *)&where[i],
            .ai_addrlen = sizeof where[i],
            .ai_next = i + 1 < addresses ? &nodes[i + 1] : NULL };
    }
    *all = nodes;
    return 0;
}
REPLACED(void, freeaddrinfo, (struct addrinfo * all))
{
    if (all != nodes) __real_freeaddrinfo(all);
}

/* ---- what the tests share ---- */
static server redis;
static bool have_redis;

#define GROWS .n = 100, .p = 0.01, .grow = 2, .storage = path

static void gone(void)
{
    unlink(path);
    unlink(other);
    CHECK(rmdir(folder) == 0 && mkdir(folder, 0700) == 0); /* nothing else was left behind */
}

/* In a process of its own, whose surroundings may be spoilt. */
static void in_a_child(void (*test)(void))
{
    IN_A_CHILD
    {
        redis.client = -1; /* the parent's */
        test();
    }
}

static int64_t add_up_to(bf_filter *f, uint64_t n, bf_error *err)
{
    for (uint64_t i = 0; i < n; i++) {
        int rc = bf_add(f, &i, sizeof i, err);
        if (rc < 0) return rc;
    }
    return (int64_t)n;
}

static void has_all(bf_filter *f, uint64_t n)
{
    uint64_t lost = 0;
    for (uint64_t i = 0; i < n; i++) lost += bf_test(f, &i, sizeof i, &e) != 1;
    CHECK_EQ(lost, 0);
}

/* ---- RLIMIT_FSIZE: beyond it the kernel sends a signal that kills ---- */
static void too_large(void)
{
    CHECK(e.code == BF_EIO && e.sys_errno == EFBIG);
    CHECK_HAS(e.msg, "File too large");
    CHECK_HAS(e.msg, folder);
}

static void small_files_only(void)
{
    bf_filter *f = OPEN(GROWS);
    bf_sync(f, &e);
    signal(SIGXFSZ, SIG_DFL);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 64 << 10, 64 << 10 }), 0);
    CHECK(add_up_to(f, 1 << 20, &e) < 0);
    too_large();
    CHECK_HAS(e.msg, "cannot allocate space to grow in");
    has_all(f, 100);
    bf_close(f);
    f = OPEN(.storage = path); /* as sound as before */
    has_all(f, 100);
    bf_close(f);
    unlink(path);
    CHECK(!bf_open(&(bf_spec){ .m = 1 << 20, .k = 3, .storage = path }, &e));
    too_large();
    CHECK(!bf_open(&(bf_spec){ .n = 1 << 20, .p = 0.01, .grow = 2, .storage = path }, &e));
    too_large();
    f = OPEN(.m = 1 << 20, .k = 3);
    CHECK_EQ(bf_save(f, other, &e), BF_EIO);
    too_large();
    bf_close(f);
    f = OPEN(.m = 1 << 18, .k = 3, .storage = path); /* what fits can be made */
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    CHECK_EQ(bf_save(f, other, &e), 0);
    bf_close(f);
}
TEST(a_limit_on_file_sizes)
{
    in_a_child(small_files_only);
    gone();
}

/* ---- no standard descriptors: what the host prints must not end in a filter ---- */
static void print(void)
{
    static const char text[] = "what somebody prints";
    for (int fd = 0; fd < 3; fd++) CHECK(write(fd, text, sizeof text) < 0 && errno == EBADF);
}

static void nothing_printed_at_the_lock(void)
{
    print();
    at_lock = NULL;
}

static void none_of_the_standard_ones(void)
{
    for (int fd = 0; fd < 3; fd++) close(fd);
    bf_filter *f = OPEN(.m = 1000, .k = 3, .storage = path);
    print();
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    CHECK_EQ(bf_save(f, other, &e), 0);
    bf_close(f);
    unlink(path);
    f = OPEN(GROWS);
    at_lock = nothing_printed_at_the_lock;
    CHECK_EQ(add_up_to(f, 1000, &e), 1000);
    CHECK(at_lock == NULL);
    print();
    bf_close(f);
    f = OPEN(.storage = path, .read_only = true);
    print();
    has_all(f, 1000);
    bf_close(f);
    if (!have_redis) return;
    f = OPEN(.m = 1000, .k = 3, .storage = rs_url(&redis, "standard", ""));
    print();
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    print();
    CHECK_EQ(bf_test(f, "a", 1, &e), 1);
    bf_close(f);
}
/* The child cannot say where: its exit code does. */
TEST(without_standard_descriptors)
{
    in_a_child(none_of_the_standard_ones);
    gone();
}

static void all_descriptors_are_taken(void)
{
    close(0);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 3, 3 }), 0);
    CHECK(!bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = path }, &e));
    CHECK_EQ(e.sys_errno, EMFILE);
    bf_filter *f = OPEN(.m = 1000, .k = 3);
    CHECK_EQ(bf_save(f, other, &e), BF_EIO);
    CHECK_EQ(e.sys_errno, EMFILE);
    bf_close(f);
    if (have_redis) {
        CHECK(!bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = rs_url(&redis, "none", "") }, &e));
        CHECK_EQ(e.sys_errno, EMFILE);
    }
    CHECK(open("/dev/null", O_RDONLY) == 0); /* the number is free as before */
}
TEST(only_standard_descriptors_are_left)
{
    if (getenv("BLOOMFILTER_SANITIZED")) return; /* valgrind knows no such limit */
    in_a_child(all_descriptors_are_taken);
    gone();
}

/* ---- room ---- */
static void a_filter_of(uint64_t m)
{
    struct stat st;
    bf_filter *f = OPEN(.m = m, .k = 3, .storage = path);
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    CHECK(stat(path, &st) == 0 && (uint64_t)st.st_blocks * 512 >= m / 8);
    CHECK_EQ(st.st_size, 4096 + m / 8);
    bf_close(f);
    f = OPEN(.storage = path);
    CHECK_EQ(bf_test(f, "a", 1, &e), 1);
    CHECK_EQ(bf_test(f, "b", 1, &e), 0);
    bf_close(f);
    gone();
}

/* Interrupted once, and so often that only small steps go through. */
TEST(room_while_signals_come)
{
    for (int times = 1; times < 40; times += 19) {
        allocate_errno = EINTR;
        allocate_times = times;
        allocations = allocated = 0;
        a_filter_of(UINT64_C(1) << 30);
        CHECK_EQ(allocate_times, 0);
        CHECK_EQ(allocated, 4096 + (1 << 27));
        CHECK(allocations >= times + 3);
    }
}

/* The GNU library writes zeros itself where the file system cannot reserve; others leave it to us.
 */
TEST(room_where_none_can_be_reserved)
{
    static const int reasons[] = { EOPNOTSUPP, ENOSYS };
    for (size_t i = 0; i < 2; i++) {
        allocate_errno = reasons[i];
        allocate_times = -1;
        a_filter_of(1 << 20);
        bf_filter *f = OPEN(GROWS);
        CHECK_EQ(add_up_to(f, 10000, &e), 10000);
        has_all(f, 10000);
        bf_close(f);
        gone();
    }
    allocate_times = 0;
}

/* ---- a lock that is never given back ---- */
typedef struct {
    int begun, ended;
} waits;
static void *wait_begins(void *ctx)
{
    ((waits *)ctx)->begun++;
    return ctx;
}
static void wait_ends(void *ctx, void *began)
{
    CHECK(began == ctx);
    ((waits *)ctx)->ended++;
}

TEST(a_lock_that_is_held_for_ever)
{
    waits told = { 0, 0 };
    bf_filter *f = OPEN(GROWS), *fixed = bf_open(&(bf_spec){ .n = 10, .p = 0.1 }, NULL);
    bf_set_wait_hooks(f, wait_begins, wait_ends, &told);
    bf_set_wait_hooks(fixed, wait_begins, wait_ends, &told); /* never waits */
    bf_close(fixed);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_EQ(__real_flock(fd, LOCK_EX), 0);
    own_clock(true);
    const uint64_t until = own_ms() + BF_PATIENCE * 1000;
    CHECK_REFUSED(add_up_to(f, 1000, &e), BF_EIO, "cannot lock");
    CHECK_HAS(e.msg, "another process holds its lock (flock); this call waited 120 seconds");
    CHECK(own_ms() >= until && own_ms() <= until + 2); /* a pause may be longer than what is left */
    CHECK(told.begun > 0);
    CHECK_EQ(told.begun, told.ended);
    const int before = told.begun;
    has_all(f, 100); /* what needs no lock goes on */
    CHECK_EQ(__real_flock(fd, LOCK_UN), 0);
    CHECK_EQ(add_up_to(f, 1000, &e), 1000);
    has_all(f, 1000);
    CHECK(own_ms() <= until + 2);
    CHECK(told.begun > before && told.begun == told.ended); /* for the disk */
    own_clock(false);
    close(fd);
    bf_close(f);
    gone();
}

/* ---- signals all the time, with and without SA_RESTART ---- */
static volatile sig_atomic_t rang;
static void ring(int signal) { rang = 1; }

static void storm(int flags)
{
    struct sigaction a = { .sa_handler = ring, .sa_flags = flags };
    sigaction(SIGALRM, &a, NULL);
    const suseconds_t every = SHORT(500, 20000); /* us */
    setitimer(ITIMER_REAL, &(struct itimerval){ { 0, every }, { 0, every } }, NULL);
}
static void calm(void)
{
    while (!rang) pause(); /* what was fast had no signal */
    setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
    rang = 0;
}

static void use(const bf_spec *spec)
{
    enum { KEYS = 3000 };
    static uint64_t numbers[KEYS];
    static bf_key keys[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) {
        numbers[i] = i;
        keys[i] = (bf_key){ &numbers[i], sizeof numbers[i] };
    }
    bf_filter *f = bf_open(spec, &e);
    CHECK(f != NULL);
    if (!f) {
        fprintf(stderr, "     %s\n", e.msg);
        return;
    }
    CHECK(bf_add_many(f, keys, KEYS, NULL, &e) > KEYS * 9 / 10);
    CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
    for (uint64_t i = KEYS; i < KEYS + 50; i++) CHECK(bf_add(f, &i, sizeof i, &e) >= 0);
    has_all(f, KEYS + 50);
    CHECK_EQ(bf_sync(f, &e), 0);
    CHECK_EQ(bf_save(f, other, &e), 0);
    bf_close(f);
    f = bf_load(other, &(bf_spec){ .counting = spec->counting }, &e);
    CHECK(f != NULL);
    if (f) has_all(f, KEYS + 50);
    bf_close(f);
}

static const char *next_key(void)
{
    static char key[16];
    static int used;
    snprintf(key, sizeof key, "home%d", used++);
    return key;
}

static void use_every_home(void)
{
    use(&(bf_spec){ .n = 5000, .p = 0.001 });
    use(&(bf_spec){ .n = 5000, .p = 0.001, .storage = path });
    unlink(path);
    use(&(bf_spec){ .n = 100, .p = 0.001, .grow = 2, .storage = path });
    unlink(path);
    use(&(bf_spec){ .n = 5000, .p = 0.001, .window = 1e9, .storage = path });
    unlink(path);
    use(&(bf_spec){ .n = 5000, .p = 0.001, .counting = true, .storage = path });
    if (have_redis) {
        use(&(bf_spec){ .n = 5000, .p = 0.001, .storage = rs_url(&redis, next_key(), "") });
        use(&(bf_spec){
            .n = 1000, .p = 0.001, .grow = 2, .storage = rs_url(&redis, next_key(), "") });
        use(&(bf_spec){
            .n = 5000, .p = 0.001, .counting = true, .storage = rs_url(&redis, next_key(), "") });
    }
    gone();
}

TEST(signals_all_the_time)
{
    static const int flags[] = { 0, SA_RESTART };
    for (size_t i = 0; i < 2; i++) {
        storm(flags[i]);
        use_every_home();
        calm();
    }
}

/* ---- small stacks: what a thread has by default where the C library is musl; sanitizers need more
 * for themselves ---- */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK = 1 << 20 };
#else
enum { STACK = 128 << 10 };
#endif

static void *on_a_small_stack(void *unused)
{
    use_every_home();
    const char *name;
    for (size_t i = 0; (name = bf_scheme_name(i)); i++) {
        bf_spec spec = { .n = 1000, .p = 0.01, .scheme = name };
        bf_filter *f = bf_open(&spec, &e);
        if (!f) continue; /* wants m or functions: the same code is behind it */
        bf_key key = { "a key, of sixteen b", 16 };
        CHECK(bf_add_many(f, &key, 1, NULL, &e) >= 0 || e.code == BF_EINVAL);
        bf_close(f);
    }
    return NULL;
}

TEST(a_small_stack)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    CHECK_EQ(pthread_attr_setstacksize(&small, STACK), 0);
    CHECK_EQ(pthread_create(&thread, &small, on_a_small_stack, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&small);
}

/* ---- a name with several addresses ---- */
TEST(the_first_addresses_are_dead)
{
    if (!have_redis) return;
    char url[100];
    snprintf(
        url, sizeof url, "redis://several.example:%d?key=several&timeout=%d", redis.port, PATIENCE);
    for (addresses = 1; addresses < 5; addresses++) {
        bf_filter *f = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url }, &e);
        CHECK(f != NULL);
        if (f) CHECK_EQ(bf_add(f, "a", 1, &e), addresses == 1);
        bf_close(f);
    }
    snprintf(url, sizeof url, "redis://several.example:1?key=several");
    CHECK(!bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url }, &e));
    CHECK_EQ(e.sys_errno, ECONNREFUSED);
    CHECK_HAS(e.msg, "cannot reach Redis key several at several.example:1: Connection refused");
    addresses = 0;
    snprintf(url, sizeof url, "redis://no-such-name.invalid:%d?key=several", redis.port);
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url }, &e), BF_EIO,
        "cannot reach Redis key several at no-such-name.invalid");
}

int main(void)
{
    have_redis =
        bf_open(&(bf_spec){ .storage = "redis://127.0.0.1:1?key=x" }, &e) || e.code != BF_ENOTSUP;
    if (have_redis) rs_start(&redis, NULL);
    const int rc = main_in_folder();
    if (have_redis) rs_end(&redis);
    return rc;
}
