/* each_call_fails.h - runs a scenario with its 1st, 2nd, 3rd ... call to the system failing
 * (failing_calls.h), until it goes through, and looks each time at what is left: memory,
 * descriptors, files, keys.  A scenario ends at the first error, with everything closed. */
#ifndef ONCE_EACH_H
#define ONCE_EACH_H
#include "../../../core/bloomfilter.h"
#include "folder.h"
#include "failing_calls.h"

enum { KEYS = 300, MOST = 2000 };
static void (*forget_url)(void); /* empties what a URL leads to */
static bf_key keys[KEYS];
static char texts[KEYS][16];
static bool acknowledged;   /* all of keys are in the storage of the scenario */
static bool cut_went_wrong; /* a call was done in part, and somebody noticed */

/* flock does no part; interrupted it may be. */
REPLACED(int, flock, (int fd, int how))
{
    if (how != LOCK_UN && now("flock")) {
        errno = ENOLCK;
        return -1;
    }
    if (how != LOCK_UN && now_partly("flock")) {
        errno = EINTR;
        return -1;
    }
    return __real_flock(fd, how);
}

static inline int main_once(void)
{
    for (int i = 0; i < KEYS; i++) {
        int len = snprintf(texts[i], sizeof texts[i], "key %d", i);
        keys[i] = (bf_key){ texts[i], (size_t)len };
    }
    return main_in_folder();
}

static inline bool try(int64_t rc, const bf_error *e)
{
    if (rc >= 0) return true;
    if (what_happens != FAILS) cut_went_wrong = true;
    CHECK(failed);
    CHECK(e->code == rc && e->msg[0]);
    return false;
}

static inline void use_storage(const bf_spec *spec)
{
    bf_error e = { 0 };
    bf_filter *f = bf_open(spec, &e);
    if (!f) {
        CHECK(failed && e.code < 0 && e.msg[0]);
        return;
    }
    if (try(bf_add_many(f, keys, KEYS, NULL, &e), &e)) {
        acknowledged = true;
        int64_t n = bf_test_many(f, keys, KEYS, NULL, &e);
        if (n >= 0)
            CHECK_EQ(n, KEYS);
        else
            CHECK(failed);
        try(bf_sync(f, &e), &e);
    }
    /* The object is still good for what comes after the fault. */
    if (failed) {
        int64_t n = bf_add_many(f, keys, KEYS, NULL, &e);
        if (n >= 0) acknowledged = true;
        CHECK(n >= 0);
        CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
    }
    bf_close(f);
}

/* ---- what must hold afterwards ---- */
static inline int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static inline void no_other_file(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && strcmp(e->d_name, "f.bloom") && strcmp(e->d_name, "g.bloom")) {
            fprintf(stderr, "left behind: %s\n", e->d_name);
            CHECK(!"no partial file stays behind");
        }
    if (d) closedir(d);
}

/* What is in the storage is a whole filter, with all keys in it if it said so. */
static inline void whole(const char *storage)
{
    bf_error e = { 0 };
    bf_filter *f = bf_open(&(bf_spec){ .storage = storage, .must_exist = true }, &e);
    if (!f) { /* nothing there: fine if nothing was acknowledged */
        CHECK(!acknowledged);
        CHECK(e.sys_errno == ENOENT || strstr(e.msg, "does not exist"));
        return;
    }
    if (acknowledged) CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
    bf_close(f);
}

static inline void forget(const char *storage)
{
    if (storage && storage[0] == '/')
        unlink(storage);
    else if (storage)
        forget_url();
}

/* fresh: the storage is empty each time; else the filter of the run before is there. */
static inline void each_fails(void (*scenario)(void), const char *storage, bool fresh)
{
    long n = 0;
    what_happens = FAILS;
    forget(storage);
    do {
        if (fresh) forget(storage);
        int files = open_files();
        calls = held = 0;
        fail_at = ++n;
        failed = acknowledged = false;
        armed = true;
        scenario();
        armed = false;
        int before = failed_here;
        CHECK_EQ(held, 0);
        CHECK_EQ(open_files(), files);
        no_other_file();
        if (storage) whole(storage);
        if (failed_here > before)
            fprintf(stderr, "  ... after call %ld failed, %s\n", n, failed ? failed_call : "none");
    } while (failed && n < MOST && failed_here < 20);
    CHECK(n > 3 && n < MOST);
    forget(storage);
}

/* The same where calls are interrupted, or do a part of what they are asked: nobody notices. */
static inline void each_is_cut(void (*scenario)(void), const char *storage)
{
    for (int how = IS_INTERRUPTED; how <= DOES_A_PART; how++) {
        long n = 0;
        forget(storage);
        do {
            forget(storage);
            calls = held = 0;
            fail_at = ++n;
            what_happens = how;
            failed = acknowledged = cut_went_wrong = false;
            armed = true;
            scenario();
            armed = false;
            int before = failed_here;
            CHECK(acknowledged && !cut_went_wrong);
            CHECK_EQ(held, 0);
            whole(storage);
            if (failed_here > before)
                fprintf(
                    stderr, "  ... after call %ld was cut, %s\n", n, failed ? failed_call : "none");
        } while (failed && n < MOST && failed_here < 20);
        CHECK(n > 1 && n < MOST);
    }
    what_happens = FAILS;
    forget(storage);
}
#endif
