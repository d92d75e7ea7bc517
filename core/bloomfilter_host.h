/* bloomfilter_host.h - what language bindings and servers need beside bloomfilter.h: clients of the
 * host that move bits, handles that several threads or requests share, batches of lines, warnings,
 * and texts.  The conventions are those of bloomfilter.h.
 */
#ifndef BLOOMFILTER_HOST_H
#define BLOOMFILTER_HOST_H
#include "bloomfilter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- for language bindings: clients of the host ---------------------------------------------- */
enum { BF_OP_TEST = 0, BF_OP_ADD = 1 };

/* Home "client": the host's own object moves the bits (a Redis client it already has, or
 * a test). */
struct bf_client {
    /* For each of nkeys keys: pos holds its k positions one after another.  BF_OP_TEST: present[i]
     * = 1 if all are set.  BF_OP_ADD: the same answer as before the add, then set them.  0 or
     * non-zero = failed (the host keeps its own exception; the core answers BF_EHOST).  Duplicate
     * positions are allowed. */
    int (*apply)(
        void *ctx, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present);
    void *ctx; /* passed on as it is; must outlive the filter */
};

/* Home "redis" through a client that the host already has: it knows servers, logins, TLS and the
 * nodes of a cluster; the core knows the commands.  Its commands are in Redis's own protocol, ready
 * to be sent; a client that wants arguments instead walks them with bf_command_next and
 * bf_command_arg. */
typedef struct {
    const char *key; /* a key that all commands of this part use: it determines the node of
                      * a cluster */
    size_t key_len;
    const void *bytes; /* commands, one after another */
    size_t len, commands;
} bf_redis_part;
typedef struct bf_reply_sink bf_reply_sink;
enum {
    BF_CLIENT_ANSWERED = 0, /* every command has its reply in the sink; an error reply is a
                             * reply */
    BF_CLIENT_UNSENT = 1,   /* nothing was sent: no connection                                   */
    BF_CLIENT_LOST = 2,     /* unknown whether Redis executed the commands                       */
    BF_CLIENT_STOP = 3      /* the host wants to stop (an interrupt): BF_EHOST, nothing is tried
                             * again */
};
struct bf_redis_client {
    /* Send all parts, and put the replies into the sink in the order of the commands, whichever
     * node they came from.  It never sends a command twice unless Redis said that it was not
     * executed (MOVED, ASK, TRYAGAIN), and never gives a connection back that may be out of step.
     * One of BF_CLIENT_...; other than ANSWERED after bf_reply_fault.  report = false: no one will
     * hear of a fault, so the host must not keep an exception. */
    int (*exchange)(
        void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink);
    const char *name; /* what messages call it, e.g. "127.0.0.1:6379"; no password */
    bool cluster;     /* keys that are used together must share a hash slot */
    void *ctx;
}; /* it and what it points to must outlive the filter */

/* ---- for language bindings: inside bf_redis_client.exchange ---------------------------------- */
/* A reply, put piece by piece.  An array is array(n) and then its n members; each command's reply
 * is complete by itself. */
void bf_reply_put_integer(bf_reply_sink *sink, int64_t value);
void bf_reply_put_text(bf_reply_sink *sink, const void *bytes, size_t len);
void bf_reply_put_error(bf_reply_sink *sink, const void *bytes, size_t len);
void bf_reply_put_nil(bf_reply_sink *sink);
void bf_reply_put_array(bf_reply_sink *sink, size_t n);
/* Instead of the above: the bytes as the server sent them, cut anywhere.  Returns how many replies
 * are complete since the beginning, or since the last bf_reply_expect; BF_EFORMAT: not replies. */
int64_t bf_reply_feed(bf_reply_sink *sink, const void *bytes, size_t len);
/* The error reply to command i (counted over all parts).  Returns its length, 0 if the reply is not
 * an error; the text does not end with a NUL. */
size_t bf_reply_refusal(const bf_reply_sink *sink, size_t i, const char **text);
/* Which commands the next replies belong to, if they do not come in the order of the commands:
 * several nodes, or commands that were sent again because Redis did not execute them.  The ranges
 * are borrowed until they are used up; bytes of an incomplete reply are dropped.  first =
 * BF_NO_REPLY: replies to be ignored. */
typedef struct {
    size_t first, count;
} bf_redis_range;
#define BF_NO_REPLY SIZE_MAX
void bf_reply_expect(bf_reply_sink *sink, const bf_redis_range *ranges, size_t nranges);
/* Which connection the replies come from: a number that grows with each new connection.  The cache
 * forgets everything that it learned on earlier connections; without this call it forgets after a
 * round trip that failed. */
void bf_reply_connection(bf_reply_sink *sink, uint64_t number);
/* Why there are no replies: an errno (ETIMEDOUT, ECONNRESET...) or 0, and a text of the host. */
void bf_reply_fault(bf_reply_sink *sink, int sys_errno, const void *text, size_t len);
/* Reads commands from bytes.  Initial value: { bytes, bytes + len, 0 }. */
typedef struct {
    const char *at, *end;
    size_t args;
} bf_commands;
/* Moves to the next command, which has c->args arguments (with its name); false: there is none. */
bool bf_command_next(bf_commands *c);
bool bf_command_arg(bf_commands *c, bf_key *arg); /* its next argument */

/* ---- for language bindings: handles, batches, warnings --------------------------------------- */
/* Adds a reference and returns f.  Each bf_retain needs a bf_close of its own; the last bf_close
 * frees.  For hosts that take a handle out of a table under a lock and use it after that. */
bf_filter *bf_retain(bf_filter *f); /* NULL is fine */
/* As bf_save, under a name that must not exist: never replaces a file, also not one that appears
 * while it writes.  Then BF_EIO with sys_errno EEXIST, and the file there is untouched. */
int bf_save_new(bf_filter *f, const char *path, bf_error *err);
/* For hosts that let their users close a filter at any time: BF_EBUSY while a call with f runs the
 * host's code (a clock, a client), else 0.  A bf_close during such a call frees nothing before the
 * call returns.  In a forked child the calls of the parent's other threads do not count; the memory
 * of such a filter is freed with the process. */
int bf_busy(bf_filter *f, bf_error *err);
/* For hosts that leave calls by longjmp: ends this thread's calls that run the host's code.  Their
 * memory and locks are not released; their filters can only be closed. */
void bf_abandon_calls(void);
/* Switch between plain and atomic kernels.  No other thread may be inside the filter at that
 * moment. */
void bf_set_threads(bf_filter *f, bool threads);
/* For hosts that keep a handle from request to request: would bf_open(spec) open what f has open?
 * 1 yes; 0 no, the file was replaced (device, inode, time of birth) or deleted, or is a compact
 * image, of which f is a copy: open it again; negative: what bf_open would refuse. */
int bf_is_current(const bf_filter *f, const bf_spec *spec, bf_error *err);
/* For hosts with a lock of their own (Python's): f calls begin(ctx) before it waits for a lock or
 * for a disk, and end(ctx, what begin returned) after, in the thread that called it.  Neither may
 * use f.  No lock is waited for longer than 120 seconds; then the call fails with BF_EIO. */
void bf_set_wait_hooks(
    bf_filter *f, void *(*begin)(void *ctx), void (*end)(void *ctx, void *began), void *ctx);
/* For hosts with event threads: after bf_set_nowait(true) no call of this thread waits for a lock
 * or for a disk, and none makes a filter grow.  A call that would have to returns BF_EBUSY ("...;
 * this call does not wait"): repeat it in another thread.  A batch may be done in part by then: the
 * first err->key keys are done and have their answers.  Add the others again, and of their each[]
 * keep what is 1, which is a key that was new; each[] must be zeros before the first call.  Filters
 * in Redis wait for the server in any case. */
void bf_set_nowait(bool on);
/* For hosts that keep connections or locks: a number above 0 that is different in each forked
 * child. A process id is not enough: a child in a new pid namespace may have its parent's. */
int bf_process(void);
/* For hosts that gather keys: how many to pass to one call of a batch function, 1 to
 * BF_BATCH_SIZE_MAX.  In Redis so many keys take one round trip; elsewhere they fit the processor's
 * caches. */
#define BF_BATCH_SIZE_MAX 1000
size_t bf_batch_size(const bf_filter *f);
/* The lines of a buffer as keys; each ends before the byte sep.  A call takes at most bf_batch_size
 * lines and about 4 MiB, moves `at` past them and adds to keys and hits (new, or present).  Returns
 * 1, or 0 if no complete line is left.  err->key is the index of a refused line, counted from the
 * first line of all calls; then at, keys and hits do not change. */
typedef struct {
    const char *at, *end; /* what is left of the buffer                                        */
    char sep;
    bool last;     /* what follows the last sep is a line as well, if it is not empty   */
    uint8_t *each; /* receives an answer a line and is moved on; NULL = not wanted      */
    char *kept;    /* receives the lines whose answer is keep, each with its sep, and is
                    * moved on: end - at + 1 bytes of room suffice; NULL = not wanted   */
    uint8_t keep;
    uint64_t keys, hits;
} bf_lines;
int bf_add_lines(bf_filter *f, bf_lines *l, bf_error *err);
int bf_test_lines(bf_filter *f, bf_lines *l, bf_error *err);
/* Splits the buffer without a filter: stores the next lines, at most cap, as keys that point into
 * the buffer, and returns their number. */
size_t bf_next_lines(bf_lines *l, bf_key *keys, size_t cap);
/* For hosts that warn once when a filter is overfull. The host keeps a counter per filter. It sets
 * the counter to n when the filter was just created, to 0 when an existing one was opened and after
 * a clear or a union, and subtracts each new key. When the counter falls below 0, the host calls
 * bf_check_fill, which sets *left to the next value of the counter (INT64_MAX: this home cannot
 * check). bf_check_fill returns 1 if the filter is overfull; then it writes a warning without a
 * full stop to sentence (cap bytes), and the host appends how to turn its warnings off. It returns
 * 0 if there is no warning or the check failed. Large filters are sampled. In Redis a check takes
 * one round trip per part (BITCOUNT of a few ranges) and is made at most once a minute; other calls
 * return immediately. */
#define BF_SENTENCE_BYTES 224
int bf_check_fill(bf_filter *f, int64_t *left, char *sentence, size_t cap);
/* For the same hosts, once when a filter is created or opened.  1: hash functions of its scheme
 * fail on ordinary keys, and sentence names them; 0: none does. */
int bf_hash_warning(const bf_filter *f, char *sentence, size_t cap);

/* ---- for language bindings: texts ------------------------------------------------------------ */
/* Refuses a value that does not fit bf_spec's types: fills *err, for example with "m must be 1 to
 * 1099511627776, got -5", and returns BF_EINVAL. name is "m", "n", "k", "p", ...; value is its text
 * as the user wrote it. */
int bf_refuse(bf_error *err, const char *name, const char *value);
/* Is this storage a URL?  Otherwise it is a path, or a mistake. */
bool bf_is_url(const char *storage);
/* 1: the storage is a file, *path its path, a part of storage (file:PATH names PATH, whatever that
 * looks like); 0: it is a URL; BF_EINVAL: it is a mistake, such as redis:host or http://host. */
int bf_storage_path(const char *storage, const char **path, bf_error *err);
/* A storage, or a text in which some may be, without what stands between :// and @ in a URL: never
 * a password.  Writes at most cap bytes, a NUL included; returns the length of all of it. */
size_t bf_hide_passwords(const char *text, char *out, size_t cap);
/* The URL of a filter beside that of url: the name of its key followed by more, which holds no
 * character that a URL must encode.  Written and returned as by bf_hide_passwords. */
size_t bf_url_beside(const char *url, const char *more, char *out, size_t cap);
/* The files that opening this URL uses, for hosts that restrict which: i = 0, 1, ...  1: *path is
 * one, to be freed; 0: there are no more; or what bf_open would refuse. */
int bf_url_file(const char *url, unsigned i, char **path, bf_error *err);
#ifdef __cplusplus
}
#endif
#endif
