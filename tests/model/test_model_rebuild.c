/* test_model_rebuild.c - a rebuild beside adders, testers and removers, in memory and among the
 * processes of one mapped file, under every interleaving and with a death at every step.  What is
 * in the old keys and in the new ones is never absent; what is added once the rebuild began is
 * there afterwards; whoever dies leaves exactly the old keys or the new ones.  The very code of the
 * core. */
/* wraps: flock fsync mmap munmap */
#include "../../core/home/file.h"
#include "../../core/parts/parts.h"
#include "../../core/sets/rebuild.h"
#include "check.h"
#include "one_file.h"

enum { OLD, BOTH, NEW, LATE, EARLY, KEYS, LOOKS = 1 };
static const unsigned k = 2, m = 128;
static char names[KEYS][8];
static bool counting, in_file, share;
static bf_filter *handle[MODEL_THREADS], *late_one;
static struct {
    int begun, ending, added; /* the rebuild; the adder */
    int end_rc, add_rc, remove_rc, both[LOOKS], late;
    bool late_began, late_read, early, twice;
    bool beside, overtaken; /* the rebuild had begun, or all but ended, at the adder's last step */
} h;

static bf_spec spec_of(bool file)
{
    return (bf_spec){ .m = m,
        .n = 10,
        .k = k,
        .scheme = "classic",
        .threads = true,
        .counting = counting,
        .storage = file ? path : NULL };
}
static int add_(bf_filter *f, int key) { return bf_add(f, names[key], strlen(names[key]), NULL); }
static int has(bf_filter *f, int key) { return bf_test(f, names[key], strlen(names[key]), NULL); }

/* Keys of two cells, one in each half of the bits, that have none in common; where they share, OLD
 * and BOTH have one. */
static void find_keys(void)
{
    uint64_t pos[KEYS][2];
    const bf_spec spec = spec_of(false);
    bf_filter *f = bf_open(&spec, NULL);
    for (unsigned n = 0, i = 0; n < KEYS; i++) {
        snprintf(names[n], sizeof names[n], "k%u", i);
        bf_hashcode(f, names[n], strlen(names[n]), pos[n], k, NULL);
        unsigned common = 0;
        for (unsigned j = 0; j < n; j++)
            for (unsigned a = 0; a < 2; a++)
                common += pos[n][a] == pos[j][0] || pos[n][a] == pos[j][1];
        n += pos[n][0] / 64 != pos[n][1] / 64 && common == (share && n == BOTH);
    }
    bf_close(f);
}

/* ---- what the threads do ---- */
static uint64_t event; /* what a promise is about is in one order for all */
static void happens(int *what)
{
    bf_model_step(&event, true);
    *what = 1;
}
static bool happened(const int *what)
{
    bf_model_step(&event, false);
    return *what;
}

static void rebuilds(int me)
{
    bf_filter *fresh = bf_rebuild_begin(handle[me], NULL);
    happens(&h.begun);
    add_(fresh, BOTH);
    add_(fresh, NEW);
    happens(&h.ending);
    h.end_rc = bf_rebuild_end(handle[me], fresh, NULL);
    bf_close(fresh);
}
static void gives_up(int me)
{
    bf_filter *fresh = bf_rebuild_begin(handle[me], NULL);
    add_(fresh, NEW);
    h.end_rc = bf_rebuild_cancel(handle[me], fresh, NULL);
    bf_close(fresh);
}
static int add_batch(bf_filter *f, int key)
{
    const bf_key keys[] = { { names[key], strlen(names[key]) } };
    return (int)bf_add_many(f, keys, 1, NULL, NULL);
}
static int add_twice(bf_filter *f, int key)
{
    uint8_t each[2] = { 0 };
    const bf_key one = { names[key], strlen(names[key]) };
    const int rc = (int)bf_add_many(f, (bf_key[]){ one, one }, 2, each, NULL);
    return rc == each[0] + each[1] && each[0] && (!each[1] || h.ending) ? BF_ADDED : BF_EIO;
}
static int unite(bf_filter *f, int key) { return bf_unite(f, late_one, NULL) == 0; }
static void adds_by(int me, int (*add)(bf_filter *f, int key))
{
    h.late_began = happened(&h.begun);
    h.add_rc = add(handle[me], LATE);
    h.beside = h.begun;
    h.overtaken = h.ending && !h.late_began;
    happens(&h.added);
}
static void adds(int me) { adds_by(me, add_); }
static void adds_a_batch(int me) { adds_by(me, add_batch); }
static void unites(int me) { adds_by(me, unite); }
/* The rebuild may begin within the first call: nothing that call learned may be used by the second.
 */
static void adds_twice(int me)
{
    h.early = true;
    add_(handle[me], EARLY);
    adds(me);
}
static void adds_batches(int me)
{
    h.early = h.twice = true;
    add_batch(handle[me], EARLY);
    adds_by(me, add_twice);
}
static void looks(int me)
{
    for (int i = 0; i < LOOKS; i++) h.both[i] = has(handle[me], BOTH);
    h.late_read = happened(&h.added) && h.late_began;
    h.late = has(handle[me], LATE);
}
static void removes(int me)
{
    h.remove_rc = bf_remove(handle[me], names[OLD], strlen(names[OLD]), NULL);
}
static void kills(int me)
{
    model_kill(0);
    give_back(0);
    bf_file *file = handle[0]->bitmap.store.impl;
    if (file->maker.map) __real_munmap(file->maker.map, BF_HEADER);
    file->maker.map = NULL;
    adds(me);
}

/* ---- before and after ---- */
static void (*bodies[MODEL_THREADS])(int me);
static void fresh(void)
{
    const bf_spec spec = spec_of(in_file);
    close_all(handle);
    memset(&h, 0, sizeof h);
    for (int i = 0; i < LOOKS; i++) h.both[i] = 1;
    handle[0] = bf_open(&spec, NULL);
    for (int i = 1; i < MODEL_THREADS; i++)
        handle[i] = in_file ? bf_open(&spec, NULL) : bf_retain(handle[0]);
    add_(handle[0], OLD);
    add_(handle[0], BOTH);
    for (int i = 0; i < MODEL_THREADS && bodies[i]; i++) model_thread_is(i, bodies[i]);
}

/* Is it exactly these keys, each as often as that? */
static bool exactly(bf_filter *f, const int times[KEYS])
{
    const bf_spec spec = spec_of(false);
    bf_filter *want = bf_open(&spec, NULL);
    for (int key = 0; key < KEYS; key++)
        for (int i = 0; i < times[key]; i++) add_(want, key);
    const bool yes = bf_subset(f, want, NULL) == 1 && bf_subset(want, f, NULL) == 1;
    bf_close(want);
    return yes;
}
static bool settled(bf_filter *f)
{
    bf_guard g;
    if (bf_guard_lock(f, &g, NULL) < 0) return false;
    bf_unlock(f);
    return !g.shadow && bf_phase(g.generation) == BF_SETTLED;
}

static bool never_absent(void) { return h.both[0] == 1 && (!h.late_read || h.late == 1); }
static bool rebuilt(void)
{
    bf_filter *f = handle[1];
    const bool late = has(f, LATE) == 1, wrong = h.added && !late && (h.late_began || h.beside);
    if (!never_absent() || h.end_rc < 0 || wrong || !settled(f) || (h.added && h.add_rc != 1))
        return false;
    if (has(f, NEW) != 1 || has(f, BOTH) != 1) return false;
    /* an add that the whole rebuild overtook may be counted twice */
    return exactly(f, (int[KEYS]){ 0, 1, 1, late << h.twice, has(f, EARLY) == 1 }) ||
           (h.added && (h.overtaken || (h.early && counting)) &&
               bf_count_of(f, names[NEW], strlen(names[NEW]), NULL) <= 1);
}
static bool as_it_was(void)
{
    return never_absent() && h.end_rc == 0 && h.add_rc == 1 && settled(handle[1]) &&
           exactly(handle[1], (int[KEYS]){ 1, 1, 0, 1 });
}
static bool both_is_there(void)
{
    return h.both[0] == 1 && has(handle[1], BOTH) == 1 && settled(handle[1]);
}
static bool old_or_new(void)
{
    const bf_spec spec = spec_of(true);
    bf_filter *f = bf_open(&spec, NULL);
    const bool good =
        f && never_absent() && h.add_rc == 1 && settled(f) && has(f, LATE) == 1 &&
        (exactly(f, (int[KEYS]){ 1, 1, 0, 1 }) || exactly(f, (int[KEYS]){ 0, 1, 1, 1 }));
    bf_close(f);
    return good;
}

static bool try(
    const char *name, bool (*verdict)(void), void (*a)(int), void (*b)(int), void (*c)(int))
{
    bodies[0] = a;
    bodies[1] = b;
    bodies[2] = c;
    char all[80];
    snprintf(all, sizeof all, "%s, %s, %s", name, in_file ? "file" : "memory",
        counting ? "counters" : "bits");
    return keeps(all, fresh, verdict);
}

static void each(void (*what)(void))
{
    for (int i = 0; i < 4; i++) {
        in_file = i / 2;
        counting = i % 2;
        find_keys();
        const bf_spec spec = spec_of(false);
        late_one = bf_open(&spec, NULL);
        add_(late_one, LATE);
        what();
        bf_close(late_one);
    }
}

static void those_beside_it(void)
{
    CHECK(try("adder", rebuilt, rebuilds, adds, NULL));
    CHECK(try("tester", rebuilt, rebuilds, looks, NULL));
    if (in_file == counting) /* else as many once more */
        CHECK(try("adder and tester", rebuilt, rebuilds, adds, looks));
    CHECK(try("batch", rebuilt, rebuilds, adds_a_batch, NULL));
    CHECK(try("two adds", rebuilt, rebuilds, adds_twice, NULL));
    CHECK(try("two batches", rebuilt, rebuilds, adds_batches, NULL));
    if (in_file || !counting) CHECK(try("union", rebuilt, rebuilds, unites, NULL));
    CHECK(try("given up, adder", as_it_was, gives_up, adds, NULL));
    CHECK(try("given up, union", as_it_was, gives_up, unites, NULL));
    CHECK(try("given up, batch", as_it_was, gives_up, adds_a_batch, NULL));
}
TEST(beside_others) { each(those_beside_it); }

TEST(removers)
{
    share = counting = true;
    for (in_file = 0; !in_file; in_file = 1) {
        find_keys();
        CHECK(try("remover and tester", both_is_there, rebuilds, removes, looks));
    }
    share = false;
}

static void killed(void) { CHECK(!in_file || try("killed", old_or_new, rebuilds, kills, NULL)); }
TEST(killed_at_any_step)
{
    model.in_full = true;
    each(killed);
    model.in_full = false;
}

int main(void)
{
    if (!begin_with_a_file()) return 1;
    run_tests();
    return end_with_a_file(handle);
}
