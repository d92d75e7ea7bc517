/* bias.c - plain words for the only writer of a mapped file.  A word that others may write costs a
 * locked instruction, five times a plain one; most files have one writer.
 *
 * The owner is a thread and its handle.  `turns` in the page says who writes: all (SHARED, each by
 * locked instructions), the owner alone (SOLE, by plain ones), or all as soon as the owner is
 * outside (REVOKED).
 *
 *   the owner, some keys at once            another, before it writes for the first time
 *     inside = 1                              turns: SOLE -> REVOKED
 *     turns == SOLE?  else inside = 0, and    membarrier
 *       it owns nothing any more              wait: inside == 0, or the owner is dead
 *     plain words                             turns: REVOKED -> SHARED
 *     inside = 0                              from now on its words are locked
 *
 * No store of the owner is a barrier: membarrier makes one happen in each thread of each process
 * that registered, so that either sees what the other wrote.
 *
 * Nobody may write unheard of, so the file becomes SOLE only where nobody else can:
 *   - No other has the file open, in whatever version of this library: the kernel gives a lease for
 *     writing to the only open file description alone.  turns is SOLE before it is asked (a second
 *     time), so whoever opens the file later finds that.  Another who has the file open already, to
 *     read or to write, prevents it.
 *   - Children of a fork have the same description.  They know that they are others by `alive`,
 *     which the kernel wipes in them, and tell their parent by `family`, which they share with it,
 *     before they write.  Other threads of the handle do the same by `others`.
 *
 * When the owner dies, at whatever step:
 *   before SOLE                nothing is left
 *   SOLE, without the lock     inside is 0: whoever comes next goes on
 *   outside                    the same
 *   inside                     inside stays 1, and the words are good as they are: each is the old
 *                              one or the new one.  The kernel has given the lock back then,
 *                              because nothing but the owner's memory holds it: a map of the file
 *                              by a description of its own, which no child has.  Whoever waits sees
 *                              that.
 *   while it leaves            SHARED or REVOKED with inside 1; the next who opens the file ends it
 * Whoever revokes and dies leaves REVOKED: the next who writes goes on from there, the owner
 * leaves.  An owner that is stopped inside keeps others waiting, and then they get an error.
 *
 * Once it was revoked it is over for this handle; another may become the owner when it is alone. */
#include "base/system.h"
#include "home/bias.h"
#include "format/format.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

/* ---- what the system gives ---- */
/* A host may close all descriptors: the number may lead to another file then. */
static bool has_its_file(const bf_bias *b)
{
    struct stat st;
    return fstat(b->fd, &st) == 0 && st.st_dev == b->device && st.st_ino == b->inode;
}

#if defined(__linux__)
/* Headers without these names do not tell what the kernel can, and who else writes. */
#if !defined(F_OFD_SETLK)
enum { F_OFD_GETLK = 36, F_OFD_SETLK = 37 };
#endif
enum { GLOBAL_EXPEDITED = 2, REGISTER_GLOBAL_EXPEDITED = 4 };
static bool barrier(int command)
{
#if defined(SYS_membarrier)
    return syscall(SYS_membarrier, command, 0, 0) == 0;
#else
    (void)command;
    return false;
#endif
}

/* Where a lease and a lock see all who have the file open.  Other file systems may show a file of
 * another machine, a sandbox or a layer below: its owner's lock is not seen there, and its
 * processor may be out of reach. */
static bool local(const bf_bias *b)
{
    static const unsigned systems[] = { 0xEF53, 0x58465342, 0x9123683E, 0xF2F52010, 0x01021994 };
    struct statfs s; /* ext4, XFS, Btrfs, F2FS, tmpfs */
    if (!has_its_file(b) || fstatfs(b->fd, &s) < 0) return false;
    for (unsigned i = 0; i < sizeof systems / sizeof *systems; i++)
        if ((unsigned)s.f_type == systems[i]) return true;
    return false;
}

static struct flock witness_byte(short type)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = ((off_t)1 << 62) + 1, .l_len = 1
    };
}

static bool owner_is_dead(const bf_bias *b)
{
    struct flock l = witness_byte(F_WRLCK);
    return has_its_file(b) && fcntl(b->fd, F_OFD_GETLK, &l) == 0 && l.l_type == F_UNLCK;
}
#else /* nobody is ever alone: what is found here came with the file */
enum { GLOBAL_EXPEDITED };
static bool barrier(int command)
{
    (void)command;
    return false;
}
static bool local(const bf_bias *b) { return has_its_file(b); }
static bool owner_is_dead(const bf_bias *b)
{
    (void)b;
    return true;
}
#endif

/* ---- no longer ---- */
/* After LATE_MS an owner outside has seen that it was revoked, with a barrier or without one. */
enum { YIELDS = 1000, LATE_MS = 1000, PATIENCE_MS = 10000 };

static int stopped(const bf_bias *b, bf_error *err)
{
    if (!has_its_file(b))
        return bf_fail(err, BF_EIO,
            "cannot write to %.60s: the program closed its file descriptor: open the filter again",
            b->path);
    return bf_fail(err, BF_EIO,
        "cannot write to %.50s: a process stopped, or waits for its disk, while it adds keys: let "
        "it go on or end it",
        b->path);
}

/* Everybody writes from now on, by locked instructions. */
static int end_bias(bf_bias *b, bf_error *err)
{
    const uint64_t shared = bf_turns_word(BF_SHARED), revoked = bf_turns_word(BF_REVOKED);
    if (bf_seen(b->turns) == shared) return 0; /* the page is not written to for this */
    bf_turn(b->turns, b->sole, revoked);
    const bool near = local(b), heard = near && barrier(GLOBAL_EXPEDITED);
    for (unsigned tries = 0; bf_seen(b->turns) != shared; tries++) {
        const bool late = tries >= YIELDS + LATE_MS;
        if ((heard || late) && bf_seen(b->inside) == 0) break;
        if ((near || late) && owner_is_dead(b)) {
            bf_say(b->inside, 0);
            break;
        }
        if (tries >= YIELDS + PATIENCE_MS) return stopped(b, err);
        if (tries < YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
    bf_turn(b->turns, revoked, shared);
    return 0;
}

static void drop_witness(bf_bias *b)
{
    if (b->witness) munmap(b->witness, BF_HEADER);
    b->witness = NULL;
}

/* ---- alone ---- */
/* ThreadSanitizer does not know of membarrier. */
#if defined(__x86_64__) && defined(__linux__) && defined(F_OFD_SETLK) && defined(F_SETLEASE) &&    \
    defined(SYS_membarrier) && defined(MADV_WIPEONFORK) && !defined(__SANITIZE_THREAD__)
/* In a page of the process, which a child of fork finds empty.  families: a page that it shares
 * with them, a word a handle, the last for all that come later.  Both stay. */
enum { FAMILIES = BF_HEADER / 8 };
typedef struct {
    uint64_t alive, handles, *families;
} process;

static process *current; /* of this process, or of the one that it was forked from */

static void *page_of(int how)
{
    void *p = mmap(NULL, BF_HEADER, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void forget(process *p)
{
    if (p->families) munmap(p->families, BF_HEADER);
    munmap(p, BF_HEADER);
}

static process *this_process(void)
{
    process *was = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    if (was && was->alive) return was;
    process *p = page_of(MAP_PRIVATE);
    if (!p) return NULL;
    p->families = page_of(MAP_SHARED);
    if (!p->families || madvise(p, BF_HEADER, MADV_WIPEONFORK) < 0) {
        forget(p);
        return NULL;
    }
    p->alive = 1;
    if (__atomic_compare_exchange_n(&current, &was, p, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return p;
    forget(p);
    return was; /* another thread's */
}

static void belong(bf_bias *b)
{
    process *p = this_process();
    if (!p) return;
    const uint64_t n = bf_who_add(&p->handles, 1);
    b->alive = &p->alive;
    b->family = p->families + (n < FAMILIES ? n : FAMILIES - 1);
}

/* A lease that is given back at once.  Whoever opens the file in between waits for that, and we are
 * told by a signal that nobody minds, in the place of one that kills. */
static bool nobody_else_has_it(bf_bias *b)
{
    const bool alone =
        fcntl(b->fd, F_SETSIG, SIGURG) == 0 && fcntl(b->fd, F_SETLEASE, F_WRLCK) == 0;
    const int e = errno;
    if (alone) fcntl(b->fd, F_SETLEASE, F_UNLCK);
    b->hopeless |= !alone && e != EAGAIN;
    return alone;
}

/* What says that this process lives. */
static bool witness(bf_bias *b)
{
    struct flock l = witness_byte(F_RDLCK);
    const int fd = bf_open_again(b->fd, b->path);
    if (fd < 0) return false;
    void *p = MAP_FAILED;
    if (fcntl(fd, F_OFD_SETLK, &l) == 0) p = mmap(NULL, BF_HEADER, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (p == MAP_FAILED) return false;
    b->witness = p;
    if (madvise(p, BF_HEADER, MADV_DONTFORK) == 0) return true;
    drop_witness(b);
    return false;
}

/* The owner alone from now on, if nobody else can write. */
static void take(bf_bias *b)
{
    const uint64_t shared = bf_turns_word(BF_SHARED);
    b->next = b->next * 2 < b->next ? UINT64_MAX : b->next * 2;
    if (b->hopeless) return;
    b->hopeless = !local(b);
    if (b->hopeless || !nobody_else_has_it(b)) return;
    b->hopeless = !barrier(REGISTER_GLOBAL_EXPEDITED);
    if (b->hopeless) return;
    bf_say(b->inside, 0);
    if (!bf_turn(b->turns, shared, b->sole)) return;
    if (nobody_else_has_it(b) && bf_seen(&b->others) == 0 && bf_seen(b->family) == 0 && witness(b))
        b->on = true;
    else
        bf_turn(b->turns, b->sole, shared);
}
#else
static void belong(bf_bias *b) { b->hopeless = true; }
static void take(bf_bias *b) { b->next = UINT64_MAX; }
#endif

/* ---- from outside ---- */
enum { FIRST_TRY = 1 << 14 }; /* keys: a try costs as much as is spared by some hundreds of them */

void bf_bias_init(bf_bias *b, uint8_t *page, int fd, const char *path)
{
    static uint64_t alive = 1, family;
    struct stat st = { .st_ino = 0 };
    if (fstat(fd, &st) < 0) st.st_ino = 0;
    *b = (bf_bias){ .next = FIRST_TRY,
        .sole = bf_turns_word(BF_SOLE),
        .within = bf_edition_word(1),
        .turns = bf_header_turns(page),
        .inside = bf_header_inside(page),
        .fd = fd,
        .device = st.st_dev,
        .inode = st.st_ino,
        .path = path };
    belong(b);
    b->hopeless |= !b->alive;
    if (!b->alive) b->alive = &alive, b->family = &family;
    const bool rests = bf_seen(b->turns) == bf_turns_word(BF_SHARED) && bf_seen(b->inside) == 0;
    if (!rests && local(b) && owner_is_dead(b) && end_bias(b, NULL) == 0) bf_say(b->inside, 0);
}

/* Another thread, or another process that has this handle by a fork. */
static int join(bf_bias *b, bf_error *err)
{
    if (!*b->alive)
        bf_turn(b->family, 0, 1);
    else
        bf_turn(&b->others, 0, 1);
    const int rc = end_bias(b, err);
    if (rc == 0) bf_say(&b->owner, BF_EVERYBODY);
    return rc;
}

int bf_bias_settle(bf_bias *b, bf_error *err)
{
    const uint64_t self = bf_self();
    const uint64_t owner = bf_seen(&b->owner);
    if (owner == BF_EVERYBODY || (owner == self && *b->alive)) return 0;
    if (!*b->alive || owner || !bf_turn(&b->owner, 0, self)) return join(b, err);
    const int rc = end_bias(b, err);
    if (rc < 0) bf_say(&b->owner, 0);
    return rc;
}

int bf_bias_slow(bf_bias *b, bf_error *err)
{
    if (bf_seen(&b->owner) != bf_self() || !*b->alive) {
        const int rc = bf_bias_settle(b, err);
        return rc < 0 ? rc : 1;
    }
    if (!b->on) {
        take(b);
        return 1;
    }
    b->on = false;
    drop_witness(b);
    bf_turn(b->turns, bf_turns_word(BF_REVOKED), bf_turns_word(BF_SHARED));
    bf_say(&b->owner, BF_EVERYBODY);
    return 1;
}

void bf_bias_end(bf_bias *b)
{
    if (!b->on || !*b->alive) return;
    bf_turn(b->turns, b->sole, bf_turns_word(BF_SHARED));
    drop_witness(b);
}
