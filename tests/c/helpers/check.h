/* check.h - CHECK and CHECK_EQ, the whole test framework.  A test is a function; RUN calls it and
 * counts. FINISH prints "N passed, N failed" and is main's return value.  What is skipped says why:
 * SKIP ends a test, SKIP_REST the program; scripts/test reads the lines that begin with "skip". */
#ifndef CHECK_H
#define CHECK_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
#define RUN(test)                                                                                  \
    do {                                                                                           \
        failed_here = 0;                                                                           \
        skipped_here = NULL;                                                                       \
        test();                                                                                    \
        if (skipped_here && !failed_here) {                                                        \
            printf("skip %s: %s\n", #test, skipped_here);                                          \
            checks_skipped++;                                                                      \
            break;                                                                                 \
        }                                                                                          \
        printf("%s %s\n", failed_here ? "FAIL" : "ok  ", #test);                                   \
        if (failed_here)                                                                           \
            checks_failed++;                                                                       \
        else                                                                                       \
            checks_passed++;                                                                       \
    } while (0)
static inline int checks_finished(void)
{
    printf("%d passed, %d failed", checks_passed, checks_failed);
    if (checks_skipped) printf(", %d skipped", checks_skipped);
    printf("\n");
    return checks_failed != 0;
}
#define FINISH() checks_finished()
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
        checks_failed += failed_here != 0;                                                         \
        return FINISH();                                                                           \
    } while (0)
#endif
