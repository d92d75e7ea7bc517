/* test_model_copy.c - another program copies a mapped file, word by word and in several orders,
 * while it is rebuilt twice or while parts are appended, under every interleaving.  Whoever opens
 * the copy finds what was in the filter all the time.  The very code of the core. */
/* wraps: flock fsync mmap munmap ftruncate posix_fallocate pwrite */
/* wraps: bf_shadow_sum bf_chain_part bf_chain_part_possible */
#include "../../core/home/file.h"
#include "../../core/sets/rebuild.h"
#include "growing.h"
#include "one_file.h"

/* ---- what changes more than a word ---- */
STEP_BEFORE(int, ftruncate, (int fd, off_t len), (fd, len))
STEP_BEFORE(int, posix_fallocate, (int fd, off_t at, off_t len), (fd, at, len))
STEP_BEFORE(ssize_t, pwrite, (int fd, const void *b, size_t len, off_t at), (fd, b, len, at))

/* What was wrong: a shadow that is not tied to its header. */
static bool no_sum;
REPLACED(uint64_t, bf_shadow_sum, (const uint64_t *shadow, uint64_t nwords, int64_t generation))
{
    return no_sum ? 0 : __real_bf_shadow_sum(shadow, nwords, generation);
}

/* ---- the copier ---- */
enum { LIVE = 2080, SHADOW = 1 << 16, PIECES = 8, COPY_BYTES = 1 << 17 };
typedef struct {
    off_t at;
    size_t len;
    off_t word; /* a word, or a page of which only this word changes once it is written */
} piece;
static piece pieces[PIECES];
static bool in_order; /* as cp reads: to the end that the file has by then */
static int original;
static uint8_t bytes_of_copy[COPY_BYTES];
static size_t copy_len;
static char copy_path[80];

static void copies(int me)
{
    copy_len = 0;
    for (int i = 0; i < PIECES && pieces[i].len; i++) {
        const piece *p = &pieces[i];
        bf_model_step((const void *)(uintptr_t)p->word, false);
        const ssize_t got = pread(original, bytes_of_copy + p->at, p->len, p->at);
        const bool more = got == (ssize_t)p->len;
        if (got > 0 && (size_t)(p->at + got) > copy_len) copy_len = (size_t)(p->at + got);
        if (in_order && !more) return;
    }
}

/* What nobody writes is as it was. */
static void begin_copy(void)
{
    if (original) close(original);
    original = open(path, O_RDONLY);
    memset(bytes_of_copy, 0, sizeof bytes_of_copy);
    CHECK(pread(original, bytes_of_copy, BF_HEADER, 0) == BF_HEADER);
}

static bf_filter *opened_copy(bf_error *err)
{
    const int fd = open(copy_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(__real_pwrite(fd, bytes_of_copy, copy_len, 0) == (ssize_t)copy_len && close(fd) == 0);
    bf_filter *c = bf_open(&(bf_spec){ .storage = copy_path }, err);
    unlink(copy_path);
    return c;
}

static void in_order_of(const piece *all, unsigned n, unsigned order)
{
    memset(pieces, 0, sizeof pieces);
    in_order = order == 0;
    for (unsigned i = 0; i < n; i++)
        pieces[i] = all[order == 0   ? i           /* from the beginning */
                        : order == 1 ? (i + 1) % n /* the header last    */
                        : i          ? n - i
                                     : 0]; /* the header first, then from the end */
}

/* ---- while the file is rebuilt ---- */
enum { REBUILDS = 2, ALWAYS = 0, OLD = 1, NEWER = 2 };
static bool gives_up;
static void rebuilds(int me)
{
    for (int i = 0; i < REBUILDS; i++) {
        bf_filter *fresh = bf_rebuild_begin(handle[0], NULL);
        add_key(fresh, ALWAYS);
        if (i) add_key(fresh, NEWER);
        if (i == 0 && gives_up)
            bf_rebuild_cancel(handle[0], fresh, NULL);
        else
            bf_rebuild_end(handle[0], fresh, NULL);
        bf_close(fresh);
    }
}
static void fresh_file(const bf_spec *spec)
{
    close_all(handle);
    handle[0] = bf_open(spec, NULL);
}
static void rebuilt_file(void)
{
    fresh_file(&(bf_spec){ .m = 128, .n = 10, .k = 2, .scheme = "classic", .storage = path });
    add_key(handle[0], ALWAYS);
    add_key(handle[0], OLD);
    begin_copy();
    model_thread_is(0, rebuilds);
    model_thread_is(1, copies);
}
/* No copy is refused; it goes on as any other file. */
static bool has_what_was_there_all_the_time(void)
{
    bf_error e;
    bf_guard g;
    bf_filter *c = opened_copy(&e);
    if (!c) {
        fprintf(stderr, "     %s\n", e.msg);
        return false;
    }
    bool good = has_key(c, ALWAYS) == 1 && bf_guard_lock(c, &g, NULL) == 0;
    if (good) bf_unlock(c);
    good = good && !g.shadow && bf_phase(g.generation) == BF_SETTLED;
    bf_close(c);
    return good;
}

#define WORD(offset) { offset, 8, offset }
#define PAGE_AT(offset) { offset, BF_HEADER, (offset) + LIVE }
static const piece rebuilt[] = { WORD(LIVE), WORD(BF_HEADER), WORD(BF_HEADER + 8), WORD(SHADOW),
    WORD(SHADOW + 8), WORD(SHADOW + 16) };
static void in_every_order(
    const char *of, const piece *all, unsigned n, void (*prepare)(void), bool (*verdict)(void))
{
    static const char *const orders[] = { "from its beginning", "its header last",
        "its header first, then from its end" };
    for (unsigned i = 0; i < COUNT(orders); i++) {
        char name[100];
        in_order_of(all, n, i);
        snprintf(name, sizeof name, "%s, %s", of, orders[i]);
        CHECK(keeps(name, prepare, verdict));
    }
}
TEST(copies_during_two_rebuilds)
{
    take_keys(128);
    in_every_order(
        "rebuilt", rebuilt, COUNT(rebuilt), rebuilt_file, has_what_was_there_all_the_time);
    gives_up = true;
    in_order_of(rebuilt, COUNT(rebuilt), 0);
    CHECK(keeps("one given up", rebuilt_file, has_what_was_there_all_the_time));
    gives_up = false;
}
TEST(a_shadow_of_another_header_is_found)
{
    take_keys(128);
    in_order_of(rebuilt, COUNT(rebuilt), 0);
    no_sum = true;
    CHECK(!keeps(NULL, rebuilt_file, has_what_was_there_all_the_time));
    no_sum = false;
}

/* ---- while parts are appended ---- */
static void grows(int me)
{
    add_key(handle[0], OLD);
    add_key(handle[0], NEWER);
}
static void grown_file(void)
{
    fresh_file(
        &(bf_spec){ .n = 1, .p = 0.1, .k = 2, .scheme = "classic", .grow = 2, .storage = path });
    add_key(handle[0], ALWAYS);
    begin_copy();
    model_thread_is(0, grows);
    model_thread_is(1, copies);
}
/* A copy whose header was read last may lack the bytes of a later part: it is refused then. */
static bool has_the_old_key_or_is_refused(void)
{
    bf_error e;
    bf_filter *c = opened_copy(&e);
    if (!c) return !in_order && e.code == BF_EFORMAT && *e.msg;
    const bool good = has_key(c, ALWAYS) == 1 && add_key(c, NEWER + 1) >= 0 &&
                      has_key(c, NEWER + 1) == 1 && has_key(c, ALWAYS) == 1;
    bf_close(c);
    return good;
}
TEST(copies_while_it_grows)
{
    enum { SECOND = 2 * BF_HEADER + 16 };
    static const piece grown[] = { WORD(LIVE), PAGE_AT(BF_HEADER), WORD(2 * BF_HEADER),
        WORD(2 * BF_HEADER + 8), PAGE_AT(SECOND), WORD(SECOND + BF_HEADER),
        WORD(SECOND + BF_HEADER + 8) };
    room = 2; /* for the second key; the third one needs a part */
    take_keys(128);
    in_every_order("grown", grown, COUNT(grown), grown_file, has_the_old_key_or_is_refused);
}

int main(void)
{
    if (!begin_with_a_file()) return 1;
    snprintf(copy_path, sizeof copy_path, "%s.copy", path);
    run_tests();
    return end_with_a_file(handle);
}
