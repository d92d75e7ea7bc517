/* test_file_changed.c - files that are not what they were: copied with holes onto a full disk, cut
 * short under the map, replaced, deleted, made again under a number that was used before.
 * BF_SMALL_DISK names a small file system to fill, BF_DISK a folder on a disk, of a short name: a
 * file system in memory has no holes.  About core/home/file.c, core/base/files.c. */
/* wraps: fstat fallocate posix_fallocate fstatvfs fstatfs madvise statx msync fsync ftruncate */
#define _GNU_SOURCE
#include "../../core/parts/parts.h"
#include "../../core/sets/sets.h"
#include "one_folder.h"
#include "every_call.h"
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
    const int rc = __real_fstat(fd, st);
    act_once(&after_stat);
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
static int interrupted(void) { return interrupts > 0 && interrupts-- ? EINTR : 0; }
HOOKED(int, msync, (void *p, size_t n, int f), (p, n, f), interrupted())
HOOKED(int, fsync, (int fd), (fd), interrupted())
HOOKED(int, ftruncate, (int fd, off_t n), (fd, n), interrupted())

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
    { .n = 500000, .p = 0.01, .window = 1e9, .storage = path },
};
enum { KINDS = 4 };
static const int maps_made[] = { 1, 1, 2, 6 }; /* a page of the whole, and its parts */
static const bf_spec growing = { .n = 100, .p = 0.01, .grow = 2, .storage = path };
static const bf_spec *again(const bf_spec *s, bool read)
{
    return s->counting ? read ? &only_count : &counted : read ? &only_read : &there;
}

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
    bf_filter *f = MADE(s);
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
/* A test of a file of each kind that has holes. */
#define WITH_HOLES(name)                                                                           \
    static void name##_in(int i);                                                                  \
    TEST(name)                                                                                     \
    {                                                                                              \
        for (int i = 0; i < KINDS; i++) {                                                          \
            with_holes(&kinds[i], path);                                                           \
            name##_in(i);                                                                          \
            unlink(path);                                                                          \
            as_ever();                                                                             \
        }                                                                                          \
    }                                                                                              \
    static void name##_in(int i)
static void opens(int i, bool read)
{
    bf_filter *f = MADE(again(&kinds[i], read));
    has_some(f);
    bf_close(f);
}

WITH_HOLES(holes_are_filled)
{
    const uint64_t bytes = size(), before = room();
    opens(i, true); /* reading needs no room */
    CHECK(room() == before && reserves == 0);
    bf_filter *f = MADE(again(&kinds[i], false));
    has_some(f);
    CHECK(room() >= bytes && size() == bytes && reserves > 0);
    add_some(f);
    bf_close(f);
    reserves = 0;
    opens(i, false); /* a whole file is not touched */
    CHECK_EQ(reserves, 0);
    CHECK_EQ(emulations, kinds[i].window != 0 ? 5 : 1); /* of the creation */
}

static void refused(const bf_spec *s, int why)
{
    const uint64_t before = room();
    CHECK_NO_FILTER(bf_open(s, &e), BF_EIO, "cannot allocate the holes of");
    CHECK_EQ(e.sys_errno, why);
    CHECK_HAS(e.msg, path);
    CHECK_EQ(room(), before);
}

WITH_HOLES(no_room_for_holes)
{
    static const int reasons[] = { ENOSPC, EDQUOT, EIO };
    for (int j = 0; j < 3; j++) {
        reserve_errno = reasons[j];
        reserve_times = 1;
        refused(again(&kinds[i], false), reasons[j]);
    }
    as_ever();
    says_full = true; /* not even tried: a disk is not filled for nothing */
    refused(again(&kinds[i], false), ENOSPC);
    CHECK_EQ(reserves, 0);
    opens(i, true);
    as_ever();
    opens(i, false);
}

/* A tmpfs needs room for what is read as well. */
WITH_HOLES(holes_that_are_only_read)
{
    for (int way = 0; way < 4; way++) { /* a disk; a tmpfs; with an old kernel; with no room */
        says_tmpfs = way > 0;
        populate_errno = way == 2 ? EINVAL : way == 3 ? EFAULT : 0;
        if (way == 3) {
            refused(again(&kinds[i], true), ENOSPC);
            continue;
        }
        opens(i, true);
        CHECK_EQ(populates, way * maps_made[i]);
    }
    CHECK_EQ(populates, 2 * maps_made[i] + 1);
    says_full = true;
    refused(again(&kinds[i], true), ENOSPC);
    CHECK_EQ(populates, 2 * maps_made[i] + 1);
}

/* Whichever look at the file fails: an error and no map. */
WITH_HOLES(stats_that_fail)
{
    no_statx = true;
    bool opened = false;
    int n = 0;
    while (!opened && n < 100) {
        stats_left = ++n;
        e = (bf_error){ 0 };
        bf_filter *f = bf_open(again(&kinds[i], false), &e);
        CHECK(f || (e.code == BF_EIO && e.sys_errno == EIO));
        opened = f != NULL;
        bf_close(f);
    }
    stats_left = -1;
    CHECK(opened && n > 4);
}

/* Then there has to be as much room as is lacking.  What does not say how large it is, is believed.
 */
WITH_HOLES(nothing_can_be_reserved)
{
    static const int reasons[] = { EOPNOTSUPP, ENOSYS, EINVAL };
    for (int j = 0; j < 3; j++) {
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
            opens(i, false);
            CHECK(room() == before && emulations == 0);
        }
        as_ever();
    }
}

TEST(signals_while_holes_are_filled)
{
    with_holes(&kinds[0], path);
    reserve_errno = EINTR;
    reserve_times = 20;
    bf_filter *f = MADE(&there);
    CHECK(room() >= size());
    has_some(f);
    as_ever();
    interrupts = 3;
    CHECK_EQ(bf_sync(f, &e), 0);
    CHECK_EQ(interrupts, 0);
    bf_close(f);
    unlink(path);
    f = MADE(&kinds[2]);
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

/* ---- a small disk: a copy with holes on it, and all else of it taken.  No call is made otherwise:
 * a tmpfs that is full ---- */
TEST(holes_on_a_full_disk)
{
    static char elsewhere[PATH_MAX], taken[PATH_MAX], copy[PATH_MAX + 100];
    static const uint8_t block[4096] = { 1 };
    const char *disk = getenv("BF_SMALL_DISK");
    if (!disk) SKIP("no small disk given: BF_SMALL_DISK");
    snprintf(elsewhere, sizeof elsewhere, "%s/back.bloom", disk);
    snprintf(taken, sizeof taken, "%s/fill", disk);
    for (int i = 0; i < KINDS; i++) {
        with_holes(&kinds[i], path);
        snprintf(copy, sizeof copy, "cp --sparse=always %s %s", path, elsewhere);
        CHECK_EQ(system(copy), 0);
        const int fd = open(taken, O_CREAT | O_WRONLY, 0644);
        while (write(fd, block, sizeof block) > 0) {}
        CHECK(errno == ENOSPC && close(fd) == 0);
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
        CHECK(unlink(taken) == 0 && unlink(elsewhere) == 0 && unlink(path) == 0);
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

/* ---- damaged under the map: every call that is more than a single key says so, and touches
 * nothing first ---- */
static void cut_to(off_t bytes) { CHECK_EQ(truncate(path, bytes), 0); }
static void cut_in_the_page(void) { cut_to(100); }
static void cut_in_the_bits(void) { cut_to(8192); }
static void cut_and_made_long_again(void)
{
    const off_t was = (off_t)size();
    cut_to(2 * 4096 + 50);
    cut_to(was);
}
static void write_parts(int64_t parts)
{
    uint64_t word;
    bf_live_set(&word, parts);
    const int fd = open(path, O_RDWR);
    CHECK_EQ(pwrite(fd, &word, 8, 2080), 8);
    close(fd);
}
static void too_many_parts(void) { write_parts(BF_PARTS_MAX + 1); }

static const bf_spec damaged[] = { { .m = 100000, .k = 3, .storage = path },
    { .m = 100000, .k = 3, .storage = path, .counting = true },
    { .n = 100, .p = 0.01, .grow = 2, .storage = path },
    { .n = 100, .p = 0.01, .window = 1e9, .storage = path } };
static const struct {
    void (*run)(void);
    bool of[KINDS];
    const char *says;
} damages[] = {
    { cut_in_the_page, { true, true, true, true }, "truncated" },
    { cut_in_the_bits, { true, true, true, true }, "truncated" },
    { cut_and_made_long_again, { false, false, true, true }, "the page of its part 1 is missing" },
    { too_many_parts, { false, false, true, false }, "its number of parts is out of range" },
};

static bool applies(int kind, size_t call, const char *says)
{
    const int is = every_call[call].is;
    if (is & NO_FILE || (is & ONE_PART && kind > 1) || (is & COUNTS && kind != 1)) return false;
    if (is & OF_PARTS && kind < 2) return false;
    return !(is & ONE_KEY) || strstr(says, "number of parts");
}

/* In a child: SIGBUS is to be one failure, and not the end. */
static void damaged_at(int kind, size_t d, size_t c)
{
    const int before = failed_here;
    IN_A_CHILD
    {
        bf_filter *f = MADE(&damaged[kind]);
        for (int i = 0; i < 500; i++) CHECK(bf_add(f, &i, sizeof i, &e) >= 0);
        bf_filter *o = must(bf_copy(f, &e), __LINE__);
        damages[d].run();
        CHECK_REFUSED((int)every_call[c].run(f, o), BF_EFORMAT, damages[d].says);
        if (!strcmp(damages[d].says, "truncated"))
            CHECK(
                !bf_is_current(f, NULL, &e) && !bf_is_current(f, again(&damaged[kind], false), &e));
        CLOSE(f, o);
    }
    if (failed_here > before) FAILED("kind %d, damage %zu, %s\n", kind, d, every_call[c].name);
    unlink(path);
}
TEST(every_call_on_a_damaged_file)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t d = 0; d < COUNT(damages); d++)
            for (size_t c = 0; damages[d].of[kind] && c < EVERY_CALL; c++)
                if (applies(kind, c, damages[d].says)) damaged_at(kind, d, c);
}

/* It is found again as it was, and opened by nobody meanwhile. */
TEST(what_is_mended_goes_on)
{
    bf_filter *f = MADE(&damaged[2]);
    add_some(f);
    write_parts(-1);
    bf_state st;
    CHECK_EQ(bf_get_state(f, &st, &e), BF_EFORMAT);
    CHECK(!bf_open(&there, &e) && e.code == BF_EFORMAT && !bf_load(path, NULL, &e));
    write_parts(1);
    has_some(f);
    bf_close(f);
    unlink(path);
}

/* After its length was looked at, and before its last pages are read. */
static void cut_late(void) { cut_to((off_t)size() - 2 * 4096); }
static double fourth_epoch(void *none) { return 4 * 250000.0 + 1; } /* the last part is alive */
TEST(cut_short_while_it_is_read)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t c = 0; c < EVERY_CALL; c++) {
            static const char *const read_all[] = { "save", "to_bytes", "copy", "united", "equal",
                "state", "read_bits" };
            size_t i = 0;
            while (i < COUNT(read_all) && strcmp(read_all[i], every_call[c].name)) i++;
            if (i == COUNT(read_all)) continue;
            bf_spec s = { .n = 100000, .p = 0.01, .storage = path, .counting = kind == 1 };
            s.grow = kind == 2 ? 2 : 0;
            s.window = kind == 3 ? 1e6 : 0;
            s.clock = kind == 3 ? fourth_epoch : NULL;
            bf_filter *f = MADE(&s);
            add_some(f);
            bf_filter *o = must(bf_copy(f, &e), __LINE__);
            after_stat = cut_late;
            int64_t rc = BF_EFORMAT;
            e = (bf_error){ 0 };
            if (!strcmp(every_call[c].name, "save"))
                rc = bf_save(f, other, &e);
            else if (!strcmp(every_call[c].name, "read_bits"))
                rc = bf_read_bits(f, 0, call_bytes, info_of(f).bitset_bytes, &e);
            else
                rc = every_call[c].run(f, o);
            CHECK(!after_stat);
            CHECK(rc == BF_EFORMAT && e.code == BF_EFORMAT);
            CHECK_HAS(e.msg, "truncated");
            CLOSE(f, o);
            unlink(path);
        }
}

TEST(cut_short_while_it_is_opened)
{
    for (int i = 0; i < KINDS; i++) {
        bf_close(MADE(&kinds[i]));
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
    bf_filter *f = MADE(&growing);
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
static void make_again(const bf_spec *s) { bf_close(MADE(s)); }
TEST(another_file_under_the_name)
{
    for (int way = 0; way < 2; way++)
        for (int i = 0; i < KINDS; i++) {
            no_statx = way == 1;
            const bf_spec *s = again(&kinds[i], false);
            bf_filter *f = MADE(&kinds[i]), *image = bf_copy(f, &e);
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
            f = MADE(s);
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
        bf_filter *f = MADE(&kinds[i]);
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
    bf_filter *f = MADE(&growing), *g = MADE(&there);
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
    const uint64_t before = (grower = MADE(&growing), size());
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
