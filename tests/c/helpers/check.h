/* check.h - CHECK and CHECK_EQ, the whole test framework.  TEST makes a test, run_tests runs and
 * counts all of a program. FINISH prints "N passed, N failed" and is main's return value.  What is
 * skipped says why: SKIP ends a test, SKIP_REST the program; scripts/results reads the lines that
 * begin with "skip". */
#ifndef CHECK_H
#define CHECK_H
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Under valgrind and the sanitizers all takes several times as long: what has no second thread is
 * short there. */
#define SHORT(loops, less)                                                                         \
    (getenv("BLOOMFILTER_SLOW") && *getenv("BLOOMFILTER_SLOW") ? (less) : (loops))

static int checks_passed, checks_failed, checks_skipped, failed_here;
static const char *skipped_here;
#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            failed_here++;                                                                         \
            fprintf(stderr, "%s:%d: %s: CHECK(%s)\n", __FILE__, __LINE__, __func__, #cond);        \
        }                                                                                          \
    } while (0)
#define CHECK_EQ(a, b)                                                                             \
    do {                                                                                           \
        long long a_ = (long long)(a), b_ = (long long)(b);                                        \
        if (a_ != b_) {                                                                            \
            failed_here++;                                                                         \
            fprintf(stderr, "%s:%d: %s: %s is %lld, expected %s = %lld\n", __FILE__, __LINE__,     \
                __func__, #a, a_, #b, b_);                                                         \
        }                                                                                          \
    } while (0)
#define CHECK_HAS(text, part)                                                                      \
    do {                                                                                           \
        if (!strstr((text), (part))) {                                                             \
            failed_here++;                                                                         \
            fprintf(stderr, "%s:%d: %s: \"%s\" lacks \"%s\"\n", __FILE__, __LINE__, __func__,      \
                (text), (part));                                                                   \
        }                                                                                          \
    } while (0)
/* A call that fails with that code and a sentence that has the text: the test's bf_error is e. */
#define CHECK_REFUSED(call, want, text)                                                            \
    do {                                                                                           \
        e = (bf_error){ 0 };                                                                       \
        CHECK_EQ(call, want);                                                                      \
        CHECK_HAS(e.msg, text);                                                                    \
        CHECK_EQ(e.code, want);                                                                    \
    } while (0)
/* The same of what opens a filter: there is none. */
#define CHECK_NO_FILTER(call, want, text) CHECK_REFUSED((call) ? 0 : e.code, want, text)
#define SKIP(why)                                                                                  \
    do {                                                                                           \
        skipped_here = (why);                                                                      \
        return;                                                                                    \
    } while (0)
/* A failure that says what it is about, in a line of its own. */
#define FAILED(...) (failed_here++, (void)fprintf(stderr, __VA_ARGS__))
#define info_of(filter)                                                                            \
    ({                                                                                             \
        bf_info i_;                                                                                \
        bf_get_info(filter, &i_);                                                                  \
        i_;                                                                                        \
    })
/* bf_close of each. */
#define CLOSE(...)                                                                                 \
    do {                                                                                           \
        bf_filter *const all_[] = { __VA_ARGS__ };                                                 \
        for (size_t i_ = 0; i_ < COUNT(all_); i_++) bf_close(all_[i_]);                            \
    } while (0)
#define COUNT(array) (sizeof(array) / sizeof *(array))
/* A test: TEST(name) { ... }.  Tests run in the order in which they stand. */
#define TEST(name)                                                                                 \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void list_##name(void)                                     \
    {                                                                                              \
        static check_test one = { #name, name, __LINE__, NULL };                                   \
        list_test(&one);                                                                           \
    }                                                                                              \
    static void name(void)
typedef struct check_test {
    const char *name;
    void (*run)(void);
    int line;
    struct check_test *next;
} check_test;
static check_test *all_tests;
static inline void list_test(check_test *one)
{
    check_test **at = &all_tests;
    while (*at && (*at)->line < one->line) at = &(*at)->next;
    one->next = *at;
    *at = one;
}
/* A program that calls exit() before its last test fails; children of fork may. */
static bool checks_ended;
static void is_a_child(void) { checks_ended = true; }
__attribute__((constructor)) static void begin_checks(void)
{
    pthread_atfork(NULL, NULL, is_a_child);
}
__attribute__((destructor)) static void end_checks(void)
{
    if (checks_ended) return;
    fprintf(stderr, "it ended before its last test\n");
    fflush(stdout);
    _exit(1);
}
/* What failed outside of a test is one failure more. */
static inline void count_outside(void)
{
    checks_failed += failed_here != 0;
    failed_here = 0;
}
static inline void run_test(const char *name, void (*run)(void))
{
    count_outside();
    skipped_here = NULL;
    run();
    const bool skipped = skipped_here && !failed_here;
    *(skipped ? &checks_skipped : failed_here ? &checks_failed : &checks_passed) += 1;
    if (skipped)
        printf("skip %s: %s\n", name, skipped_here);
    else
        printf("%s %s\n", failed_here ? "FAIL" : "ok  ", name);
    failed_here = 0;
}
static inline void run_tests(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* children must not print it again */
    for (const check_test *t = all_tests; t; t = t->next) run_test(t->name, t->run);
}
__attribute__((warn_unused_result)) static inline int checks_finished(void)
{
    checks_ended = true;
    count_outside();
    checks_failed += !(checks_passed + checks_failed + checks_skipped); /* nobody ran the tests */
    printf("%d passed, %d failed", checks_passed, checks_failed);
    if (checks_skipped) printf(", %d skipped", checks_skipped);
    printf("\n");
    return checks_failed != 0;
}
/* The statement that follows is a child's.  What fails there is a failure of the test. */
#define IN_A_CHILD for (pid_t child_ = child_begins(); child_ == 0; _exit(failed_here != 0))
static inline void ends_well(pid_t child)
{
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
}
static inline pid_t child_begins(void)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) failed_here = 0;
    if (child != 0) ends_well(child);
    return child;
}
#define FINISH() checks_finished()
/* So many seconds has what must succeed, and what must end: no machine stalls that long.  Less time
 * has only what must fail for want of it. */
enum { PATIENCE = 60 };
/* What most programs' main is: all tests, or all with what they need around them. */
static inline int main_of_tests(void)
{
    run_tests();
    return FINISH();
}
/* Before the body of what stands in the place of a function of the system; the linker sends calls
 * there (see "wraps:" in the test, which CMakeLists.txt reads). */
#define REPLACED(type, name, params)                                                               \
    type __real_##name params;                                                                     \
    type __wrap_##name params;                                                                     \
    type __wrap_##name params
/* What somebody else does then, once. */
static inline void act_once(void (**act)(void))
{
    void (*const now)(void) = *act;
    *act = NULL;
    if (now) now();
}
/* What a function in the place of another returns. */
static inline int fault(int why)
{
    errno = why;
    return -1;
}
/* In the place of a call of the system: it fails with the errno `why`, 0 is as ever. */
#define HOOKED(type, name, params, args, why)                                                      \
    REPLACED(type, name, params)                                                                   \
    {                                                                                              \
        const int now_ = (why);                                                                    \
        return now_ ? fault(now_) : __real_##name args;                                            \
    }
/* The same of open; `why` may look at name and flags.  The third argument is read where there is
 * none, too, as open itself may. */
#define HOOKED_OPEN(why)                                                                           \
    REPLACED(int, open, (const char *name, int flags, ...))                                        \
    {                                                                                              \
        va_list more_;                                                                             \
        va_start(more_, flags);                                                                    \
        const int mode_ = va_arg(more_, int), now_ = (why);                                        \
        va_end(more_);                                                                             \
        return now_ ? fault(now_) : __real_open(name, flags, mode_);                               \
    }
/* A file or folder of tests/, from where this header lies. */
static inline void of_tests(char *to, size_t size, const char *name)
{
    const char *slash = strrchr(__FILE__, '/');
    snprintf(to, size, "%.*s../../%s", slash ? (int)(slash - __FILE__ + 1) : 0, __FILE__, name);
}
/* In main, before all tests. */
#define MAKE_FOLDER(name)                                                                          \
    if (!mkdtemp(name)) {                                                                          \
        perror("mkdtemp");                                                                         \
        return 1;                                                                                  \
    }
/* In main: what follows cannot be run here. */
#define SKIP_REST(why)                                                                             \
    do {                                                                                           \
        printf("skip the rest: %s\n", (why));                                                      \
        checks_skipped++;                                                                          \
        return FINISH();                                                                           \
    } while (0)
#endif
