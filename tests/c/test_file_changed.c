/* test_file_changed.c - files that are not what they were: copied with holes onto a full disk, cut
 * short under the map, replaced, deleted, made again under a number that was used before.
 * BF_SMALL_DISK names a small file system to fill, BF_DISK a folder on a disk, of a short name: a
 * file system in memory has no holes.  About core/home/file.c, core/base/files.c. */
/* wraps: fstat fallocate posix_fallocate fstatvfs fstatfs madvise statx msync fsync ftruncate */
#define _GNU_SOURCE
#include "../../core/parts/parts.h"
#include "../../core/sets/sets.h"
#include "one_folder.h"
#include <sys/statvfs.h>
#include <sys/vfs.h>

/* ---- the calls that can be made otherwise ---- */
static int reserve_errno, reserve_times, reserves, statvfs_errno, interrupts, populates,
    populate_errno;
static bool cut_now, says_tmpfs, no_statx, born_later, says_full, says_nothing;

REPLACED(int, fallocate, (int fd, int mode, off_t at, off_t n))
{
    reserves++;
    CHECK_EQ(mode, FALLOC_FL_KEEP_SIZE);
    if (reserve_times == 0) return __real_fallocate(fd, mode, at, n);
    reserve_times--;
    return fault(reserve_errno);
}
static int stats_left = -1;      /* until one fails */
static void (*after_stat)(void); /* what another thread does then, once */
REPLACED(int, fstat, (int fd, struct stat *st))
{
    if (stats_left > 0 && --stats_left == 0) return fault(EIO);
    void (*then)(void) = after_stat;
    const int rc = __real_fstat(fd, st);
    after_stat = NULL;
    if (then) then();
    return rc;
}
/* What the C library makes of it where the file system cannot reserve is nothing for a file in use.
 */
static int emulations;
REPLACED(int, posix_fallocate, (int fd, off_t at, off_t n))
{
    emulations++;
    return __real_posix_fallocate(fd, at, n);
}
REPLACED(int, fstatvfs, (int fd, struct statvfs *v))
{
    if (statvfs_errno) return fault(statvfs_errno);
    const int rc = __real_fstatvfs(fd, v);
    if (says_full) v->f_bavail = 0; /* a quota: f_bfree counts blocks of others */
    if (says_nothing) v->f_blocks = 0;
    return rc;
}
REPLACED(int, fstatfs, (int fd, struct statfs *v))
{
    const int rc = __real_fstatfs(fd, v);
    v->f_type = says_tmpfs ? 0x01021994 : 0xEF53;
    return rc;
}
REPLACED(int, madvise, (void *p, size_t n, int how))
{
    if (how != 22) return __real_madvise(p, n, how); /* MADV_POPULATE_READ */
    populates++;
    return populate_errno ? fault(populate_errno) : __real_madvise(p, n, how);
}
REPLACED(int, statx, (int d, const char *p, int flags, unsigned mask, struct statx *x))
{
    if (no_statx) return fault(ENOSYS);
    const int rc = __real_statx(d, p, flags, mask, x);
    if (cut_now) x->stx_size = 4000;
    if (born_later) x->stx_btime.tv_nsec++;
    return rc;
}
REPLACED(int, msync, (void *p, size_t n, int f))
{
    return interrupts > 0 && interrupts-- ? fault(EINTR) : __real_msync(p, n, f);
}
REPLACED(int, fsync, (int fd))
{
    return interrupts > 0 && interrupts-- ? fault(EINTR) : __real_fsync(fd);
}
REPLACED(int, ftruncate, (int fd, off_t n))
{
    return interrupts > 0 && interrupts-- ? fault(EINTR) : __real_ftruncate(fd, n);
}

static void as_ever(void)
{
    reserve_errno = reserve_times = reserves = statvfs_errno = interrupts = emulations = populates =
        populate_errno = 0;
    cut_now = says_tmpfs = no_statx = born_later = says_full = says_nothing = false;
}

/* ---- what the tests share ---- */
static const bf_spec there = { .storage = path }, counted = { .storage = path, .counting = true };
static const bf_spec only_read = { .storage = path, .read_only = true },
                     only_count = { .storage = path, .counting = true, .read_only = true };
static const bf_spec kinds[] = {
    { .m = 8 << 20, .k = 4, .storage = path },
    { .m = 2 << 20, .k = 4, .storage = path, .counting = true },
    { .n = 500000, .p = 0.01, .grow = 2, .storage = path },
    { .n = 500000, .p = 0.01, .window = 1e6, .storage = path },
};
enum { KINDS = 4 };
static const int maps_made[] = { 1, 1, 2, 6 }; /* a page of the whole, and its parts */
static const bf_spec smaller = { .n = 200000, .p = 0.01, .grow = 2, .storage = path };
static const bf_spec growing = { .n = 100, .p = 0.01, .grow = 2, .storage = path };
static const bf_spec *again(const bf_spec *s, bool read)
{
    return s->counting ? read ? &only_count : &counted : read ? &only_read : &there;
}

#define OPEN(spec) must(bf_open(spec, &e), __LINE__)
static uint64_t room(void)
{
    struct stat st;
    return stat(path, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}
static uint64_t size(void)
{
    struct stat st;
    return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}
static void add_some(bf_filter *f)
{
    for (int i = 0; i < 20; i++) CHECK(bf_add(f, &i, sizeof i, &e) >= 0);
}
static void has_some(bf_filter *f)
{
    for (int i = 0; i < 20; i++) CHECK_EQ(bf_test(f, &i, sizeof i, &e), 1);
}

/* As cp --sparse=always makes one. */
static void with_holes(const bf_spec *s, const char *to)
{
    static const uint8_t zeros[4096];
    static uint8_t page[4096];
    bf_filter *f = OPEN(s);
    add_some(f);
    bf_close(f);
    int in = open(path, O_RDONLY), out = open(other, O_RDWR | O_CREAT | O_EXCL, 0644);
    off_t at = 0;
    for (ssize_t n; (n = read(in, page, sizeof page)) > 0; at += n)
        if (memcmp(page, zeros, (size_t)n)) CHECK_EQ(pwrite(out, page, (size_t)n, at), n);
    CHECK(__real_ftruncate(out, at) == 0 && close(in) == 0 && close(out) == 0);
    CHECK(unlink(path) == 0 && rename(other, to) == 0);
    if (to == path) CHECK(room() < size() / 2);
}

/* ---- holes ---- */
TEST(holes_are_filled)
{
    for (int i = 0; i < KINDS; i++) {
        with_holes(&kinds[i], path);
        const uint64_t bytes = size(), before = room();
        bf_filter *f = OPEN(again(&kinds[i], true)); /* reading needs no room */
        has_some(f);
        bf_close(f);
        CHECK(room() == before && reserves == 0);
        f = OPEN(again(&kinds[i], false));
        has_some(f);
        CHECK(room() >= bytes && size() == bytes && reserves > 0);
        add_some(f);
        bf_close(f);
        reserves = 0;
        f = OPEN(again(&kinds[i], false)); /* a whole file is not touched */
        has_some(f);
        CHECK_EQ(reserves, 0);
        CHECK_EQ(emulations, kinds[i].window != 0 ? 5 : 1); /* of the creation */
        bf_close(f);
        unlink(path);
        as_ever();
    }
}

static void refused(const bf_spec *s, int why)
{
    const uint64_t before = room();
    e = (bf_error){ 0 };
    CHECK(!bf_open(s, &e));
    CHECK(e.code == BF_EIO && e.sys_errno == why);
    CHECK_HAS(e.msg, "cannot allocate the holes of");
    CHECK_HAS(e.msg, path);
    CHECK_EQ(room(), before);
}

TEST(no_room_for_holes)
{
    static const int reasons[] = { ENOSPC, EDQUOT, EIO };
    for (int i = 0; i < KINDS; i++) {
        with_holes(&kinds[i], path);
        for (int j = 0; j < 3; j++) {
            reserve_errno = reasons[j];
            reserve_times = 1;
            refused(again(&kinds[i], false), reasons[j]);
        }
        as_ever();
        says_full = true; /* not even tried: a disk is not filled for nothing */
        refused(again(&kinds[i], false), ENOSPC);
        CHECK_EQ(reserves, 0);
        bf_filter *f = OPEN(again(&kinds[i], true));
        has_some(f);
        bf_close(f);
        as_ever();
        f = OPEN(again(&kinds[i], false));
        has_some(f);
        bf_close(f);
        unlink(path);
        as_ever();
    }
}

/* A tmpfs needs room for what is read as well. */
TEST(holes_that_are_only_read)
{
    for (int i = 0; i < KINDS; i++) {
        with_holes(&kinds[i], path);
        for (int way = 0; way < 4; way++) { /* a disk; a tmpfs; with an old kernel; with no room */
            says_tmpfs = way > 0;
            populate_errno = way == 2 ? EINVAL : way == 3 ? EFAULT : 0;
            if (way == 3) {
                refused(again(&kinds[i], true), ENOSPC);
                continue;
            }
            bf_filter *f = OPEN(again(&kinds[i], true));
            has_some(f);
            bf_close(f);
            CHECK_EQ(populates, way * maps_made[i]);
        }
        CHECK_EQ(populates, 2 * maps_made[i] + 1);
        says_full = true;
        refused(again(&kinds[i], true), ENOSPC);
        CHECK_EQ(populates, 2 * maps_made[i] + 1);
        as_ever();
        unlink(path);
    }
}

/* Whichever look at the file fails: an error and no map, or it was not needed. */
TEST(stats_that_fail)
{
    for (int i = 0; i < KINDS; i++) {
        with_holes(&kinds[i], path);
        no_statx = true;
        int opened = 0;
        for (int n = 1; n < 12; n++) {
            stats_left = n;
            e = (bf_error){ 0 };
            bf_filter *f = bf_open(again(&kinds[i], false), &e);
            CHECK(f || (e.code == BF_EIO && e.sys_errno == EIO));
            opened += f != NULL;
            bf_close(f);
        }
        stats_left = -1;
        CHECK(opened > 0 && opened < 10);
        as_ever();
        unlink(path);
    }
}

/* Then there has to be as much room as is lacking.  What does not say how large it is, is believed.
 */
TEST(nothing_can_be_reserved)
{
    static const int reasons[] = { EOPNOTSUPP, ENOSYS, EINVAL };
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < 3; j++) {
            with_holes(&kinds[i], path);
            const uint64_t before = room();
            emulations = 0;
            reserve_errno = reasons[j];
            reserve_times = INT_MAX;
            says_full = true;
            refused(again(&kinds[i], false), ENOSPC);
            for (int way = 0; way < 3; way++) {
                says_full = way == 1;
                says_nothing = way == 1;
                statvfs_errno = way == 2 ? ENOSYS : 0;
                bf_filter *f = OPEN(again(&kinds[i], false));
                has_some(f);
                CHECK(room() == before && emulations == 0);
                bf_close(f);
            }
            unlink(path);
            as_ever();
        }
}

TEST(signals_while_holes_are_filled)
{
    with_holes(&kinds[0], path);
    reserve_errno = EINTR;
    reserve_times = 20;
    bf_filter *f = OPEN(&there);
    CHECK(room() >= size());
    has_some(f);
    as_ever();
    interrupts = 3;
    CHECK_EQ(bf_sync(f, &e), 0);
    CHECK_EQ(interrupts, 0);
    bf_close(f);
    unlink(path);
    f = OPEN(&kinds[2]);
    interrupts = 5;
    for (int i = 0; i < 600000; i++)
        if (bf_add(f, &i, sizeof i, &e) < 0) {
            CHECK_EQ(i, -1);
            break;
        }
    CHECK_EQ(interrupts, 0);
    bf_close(f);
    unlink(path);
    as_ever();
}

/* Several open it at once and add at once: filling takes no bit away. */
TEST(openers_at_once)
{
    enum { WHO = 4, KEYS = 200 };
    for (int r = 0; r < 12; r++) {
        with_holes(&kinds[r % KINDS], path);
        for (int p = 0; p < WHO; p++)
            if (fork() == 0) {
                bf_filter *f = bf_open(again(&kinds[r % KINDS], false), &e);
                for (int i = 0; f && i < KEYS; i++) {
                    const int k[] = { p, i };
                    if (bf_add(f, k, sizeof k, &e) < 0) _exit(2);
                }
                _exit(f ? 0 : 1);
            }
        for (int status; wait(&status) > 0;) CHECK_EQ(status, 0);
        bf_filter *f = OPEN(again(&kinds[r % KINDS], true));
        int lost = 0;
        for (int p = 0; p < WHO; p++)
            for (int i = 0; i < KEYS; i++) {
                const int k[] = { p, i };
                lost += bf_test(f, k, sizeof k, &e) != 1;
            }
        CHECK_EQ(lost, 0);
        has_some(f);
        bf_close(f);
        unlink(path);
    }
    as_ever();
}

/* ---- a small disk: a copy with holes on it, and all else of it taken ---- */
static char elsewhere[PATH_MAX], taken[PATH_MAX];
static bool small_disk(void)
{
    const char *disk = getenv("BF_SMALL_DISK");
    if (!disk) {
        printf("     no small disk given: BF_SMALL_DISK\n");
        return false;
    }
    snprintf(elsewhere, sizeof elsewhere, "%s/back.bloom", disk);
    snprintf(taken, sizeof taken, "%s/fill", disk);
    return true;
}
static void copy_to_it(const bf_spec *s)
{
    static char copy[PATH_MAX + 100];
    with_holes(s, path);
    snprintf(copy, sizeof copy, "cp --sparse=always %s %s", path, elsewhere);
    CHECK_EQ(system(copy), 0);
}
static void fill_it(void)
{
    static const uint8_t block[4096] = { 1 };
    int fd = open(taken, O_CREAT | O_WRONLY, 0644);
    while (write(fd, block, sizeof block) > 0) {}
    CHECK_EQ(errno, ENOSPC);
    close(fd);
}
static void empty_it(void)
{
    unlink(taken);
    unlink(elsewhere);
    unlink(path);
}

/* No call is made otherwise here: a tmpfs that is full. */
TEST(holes_on_a_full_disk)
{
    if (!small_disk()) return;
    for (int i = 0; i < KINDS; i++) {
        copy_to_it(&kinds[i]);
        fill_it();
        const bf_spec spec = { .storage = elsewhere, .counting = kinds[i].counting };
        bf_spec read = spec;
        read.read_only = true;
        says_tmpfs = true;
        e = (bf_error){ 0 };
        CHECK(!bf_open(&spec, &e) && e.sys_errno == ENOSPC);
        CHECK_HAS(e.msg, "cannot allocate the holes of");
        CHECK(!bf_open(&read, &e) && e.sys_errno == ENOSPC);
        bf_filter *f =
            must(bf_load(elsewhere, &spec, &e), __LINE__); /* into memory, without a map */
        has_some(f);
        bf_close(f);
        empty_it();
    }
    as_ever();
}

/* What does not fit is refused before it takes room that others need. */
TEST(larger_than_the_disk)
{
    as_ever();
    says_full = true;
    for (int kind = 0; kind < 3; kind++) {
        const bf_spec spec = { .storage = path,
            .n = 1000000,
            .p = 0.01,
            .counting = kind == 1,
            .grow = kind == 2 ? 2 : 0 };
        e = (bf_error){ 0 };
        CHECK(!bf_open(&spec, &e) && e.sys_errno == ENOSPC && emulations == 0);
        CHECK(access(path, F_OK) != 0);
    }
    as_ever();
}

/* What has been opened for reading stays readable when the disk fills up. */
TEST(a_disk_that_fills_up_later)
{
    if (!small_disk()) return;
    says_tmpfs = true;
    for (int read = 0; read < 2; read++) {
        copy_to_it(&smaller);
        bf_filter *f =
            must(bf_open(&(bf_spec){ .storage = elsewhere, .read_only = read }, &e), __LINE__);
        fill_it();
        has_some(f);
        for (int i = 0; i < 20000; i++)
            CHECK((read ? bf_test(f, &i, sizeof i, &e) : bf_add(f, &i, sizeof i, &e)) >= 0);
        bf_close(f);
        empty_it();
    }
    as_ever();
}

/* ---- cut short under the map: every call that is more than a single key says so, and touches
 * nothing first ---- */
typedef int64_t call(bf_filter *f, bf_filter *elsewhere);
static int64_t adds(bf_filter *f, bf_filter *o)
{
    return bf_add_many(f, &(bf_key){ "a", 1 }, 1, NULL, &e);
}
static int64_t tests(bf_filter *f, bf_filter *o)
{
    return bf_test_many(f, &(bf_key){ "a", 1 }, 1, NULL, &e);
}
static int64_t syncs(bf_filter *f, bf_filter *o) { return bf_sync(f, &e); }
static int64_t clears(bf_filter *f, bf_filter *o) { return bf_clear(f, &e); }
static int64_t copies(bf_filter *f, bf_filter *o)
{
    bf_filter *c = bf_copy(f, &e);
    bf_close(c);
    return c ? 0 : e.code;
}
static int64_t states(bf_filter *f, bf_filter *o)
{
    bf_state s;
    return bf_get_state(f, &s, &e);
}
static int64_t unites(bf_filter *f, bf_filter *o) { return bf_unite(f, o, &e); }
static int64_t united(bf_filter *f, bf_filter *o) { return bf_unite(o, f, &e); }
static int64_t equals(bf_filter *f, bf_filter *o) { return bf_equal(f, o, &e); }
static int64_t equalled(bf_filter *f, bf_filter *o) { return bf_equal(o, f, &e); }
static int64_t parts(bf_filter *f, bf_filter *o)
{
    bf_part_info i;
    const bf_info all = info_of(f);
    return all.part_count > 1 ? bf_get_part(f, 1, &i, &e) : BF_EFORMAT;
}
static int64_t lengths(bf_filter *f, bf_filter *o)
{
    int64_t n = bf_image_length(f, &e);
    return n < 0 ? n : BF_EFORMAT;
}
static int64_t reads(bf_filter *f, bf_filter *o)
{
    uint8_t b[8];
    return bf_read_bits(f, 0, b, 8, &e);
}
static int64_t bytes(bf_filter *f, bf_filter *o)
{
    const bf_info i = info_of(f);
    void *b = malloc(i.image_bytes);
    int rc = b ? bf_to_bytes(f, b, i.image_bytes, &e) : 0;
    free(b);
    return rc;
}
static int64_t asks(bf_filter *f, bf_filter *o)
{
    uint64_t wait;
    return bf_saturated(f, &wait, &e);
}
static int64_t saves(bf_filter *f, bf_filter *o) { return bf_save(f, other, &e); }
static int64_t opens(bf_filter *f, bf_filter *o)
{
    bf_filter *g = bf_open(&there, &e);
    bf_close(g);
    return g ? 0 : e.code;
}
static int64_t loads(bf_filter *f, bf_filter *o)
{
    bf_filter *g = bf_load(path, NULL, &e);
    bf_close(g);
    return g ? 0 : e.code;
}
static int64_t fits(bf_filter *f, bf_filter *o)
{
    const bf_info i = info_of(f);
    return bf_is_current(f, i.counting ? &counted : &there, &e) ? 0 : BF_EFORMAT;
}

TEST(cut_short)
{
    static call *const calls[] = { adds, tests, syncs, clears, copies, states, unites, united,
        equals, equalled, parts, lengths, reads, bytes, asks, saves, opens, loads, fits };
    static const off_t lengths_left[] = { 0, 100, 4096, 8192 };
    for (int i = 0; i < KINDS; i++)
        for (size_t j = 0; j < 4; j++)
            for (size_t c = 0; c < COUNT(calls); c++) {
                int status = 0;
                fflush(NULL);
                pid_t child = fork(); /* SIGBUS is to be one failure, and not the end */
                if (child == 0) {
                    bf_filter *f = OPEN(&kinds[i]), *o = bf_copy(f, &e);
                    CHECK_EQ(truncate(path, lengths_left[j]), 0);
                    e = (bf_error){ 0 };
                    const int64_t rc = calls[c](f, o);
                    CHECK(rc == BF_EFORMAT);
                    if (rc != BF_EFORMAT)
                        fprintf(stderr, "     kind %d, %d bytes, call %zu: %lld %s\n", i,
                            (int)lengths_left[j], c, (long long)rc, e.msg);
                    CLOSE(f, o);
                    _exit(failed_here != 0);
                }
                CHECK(waitpid(child, &status, 0) == child && status == 0);
                if (status)
                    fprintf(stderr, "     kind %d, %d bytes, call %zu: status %d\n", i,
                        (int)lengths_left[j], c, status);
                unlink(path);
                CHECK(access(other, F_OK) < 0);
            }
}

TEST(cut_short_while_it_is_opened)
{
    for (int i = 0; i < KINDS; i++) {
        bf_close(OPEN(&kinds[i]));
        cut_now = true;
        CHECK_NO_FILTER(
            bf_open(again(&kinds[i], false), &e), BF_EFORMAT, "was truncated while it was opened");
        as_ever();
        unlink(path);
    }
}

/* One that was cut short must not be made as long as it was: what is gone would read as zeros, as
 * keys that were never added. */
TEST(growth_of_what_was_cut_short)
{
    bf_filter *f = OPEN(&growing);
    for (int i = 0; i < 100; i++) CHECK(bf_add(f, &i, sizeof i, &e) >= 0);
    const uint64_t was = size();
    CHECK(was % 4096 > 64 &&
          truncate(path, (off_t)was - 64) == 0); /* in its last page: no access to it is SIGBUS */
    int rc = 0;
    for (int i = 100; i < 100000 && rc >= 0; i++) rc = bf_add(f, &i, sizeof i, &e);
    CHECK_EQ(rc, BF_EFORMAT);
    CHECK_HAS(e.msg, "was truncated while it was open");
    CHECK_EQ(size(), was - 64);
    bf_close(f);
    unlink(path);
}

/* ---- is it still the file of that name? ---- */
static void make_again(const bf_spec *s) { bf_close(OPEN(s)); }
TEST(another_file_under_the_name)
{
    for (int way = 0; way < 2; way++)
        for (int i = 0; i < KINDS; i++) {
            no_statx = way == 1;
            const bf_spec *s = again(&kinds[i], false);
            bf_filter *f = OPEN(&kinds[i]), *image = bf_copy(f, &e);
            CHECK_EQ(bf_is_current(f, s, &e), 1);
            CHECK_EQ(bf_is_current(f, &kinds[i], &e), 1);
            add_some(f);
            CHECK(bf_sync(f, &e) == 0 && bf_is_current(f, s, &e) == 1);
            CHECK(link(path, other) == 0 && bf_is_current(f, s, &e) == 1);
            CHECK(unlink(path) == 0 &&
                  bf_is_current(f, s, &e) == 0); /* deleted; a second name does not count */
            CHECK(rename(other, path) == 0 && bf_is_current(f, s, &e) == 1);
            for (int r = 0; r < 20;
                r++) { /* deleted and made again: never the number of an open one */
                unlink(path);
                make_again(&kinds[i]);
                CHECK_EQ(bf_is_current(f, s, &e), 0);
            }
            bf_close(f);
            f = OPEN(s);
            CHECK_EQ(bf_save(image, other, &e), 0); /* by mv */
            CHECK(bf_is_current(f, s, &e) == 1 && rename(other, path) == 0 &&
                  bf_is_current(f, s, &e) == 0);
            CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0 && bf_is_current(f, s, &e) == 0 &&
                  rmdir(path) == 0);
            CLOSE(f, image);
        }
    as_ever();
}

TEST(a_number_that_was_used_before)
{
    for (int i = 0; i < KINDS; i++) {
        bf_filter *f = OPEN(&kinds[i]);
        born_later = true; /* the same device and number, another file */
        CHECK_EQ(bf_is_current(f, again(&kinds[i], false), &e), 0);
        as_ever();
        CHECK_EQ(bf_is_current(f, again(&kinds[i], false), &e), 1);
        bf_close(f);
        unlink(path);
    }
}

TEST(it_grows_and_is_the_same)
{
    bf_filter *f = OPEN(&growing), *g = OPEN(&there);
    for (int i = 0; i < 5000; i++) CHECK(bf_add(g, &i, sizeof i, &e) >= 0);
    CHECK_EQ(bf_is_current(f, &there, &e), 1); /* it has not followed yet */
    CHECK_EQ(bf_is_current(g, &there, &e), 1);
    for (int i = 0; i < 5000; i++) CHECK_EQ(bf_test(f, &i, sizeof i, &e), 1);
    CHECK_EQ(bf_is_current(f, &there, &e), 1);
    CLOSE(f, g);
    unlink(path);
}

/* One of two threads looks how long the file is; before it compares, the elsewhere lets it grow. */
static bf_filter *grower;
static void grow(void)
{
    for (int i = 0; i < 5000; i++) CHECK(bf_add(grower, &i, sizeof i, &e) >= 0);
}

TEST(it_grows_while_somebody_stats_it)
{
    const uint64_t before = (grower = OPEN(&growing), size());
    after_stat = grow;
    CHECK_EQ(bf_test_many(grower, NULL, 0, NULL, &e), 0);
    CHECK(size() > before);
    bf_close(grower);
    unlink(path);
}

int main(void)
{
    const char *disk = getenv("BF_DISK");
    if (disk) snprintf(folder, sizeof folder, "%.20s/bf-test-XXXXXX", disk);
    return main_in_folder();
}
