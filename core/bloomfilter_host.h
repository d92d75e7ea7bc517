/* bloomfilter_host.h - what language bindings and servers need in addition to bloomfilter.h:
 * clients of the host, shared handles, text lines as keys, warnings, and texts. The conventions are
 * those of bloomfilter.h. */
#ifndef BLOOMFILTER_HOST_H
#define BLOOMFILTER_HOST_H
#include "bloomfilter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- for language bindings: clients of the host ---------------------------------------------- */
enum { BF_OP_TEST = 0, BF_OP_ADD = 1 };

/* Home "client": an object of the host stores the bits (for example a Redis client that it
 * already has, or a test). */
struct bf_client {
    /* Handles nkeys keys; pos has the k positions of each key one after another.  BF_OP_TEST:
     * sets present[i] to 1 if all positions of key i are set, else to 0.  BF_OP_ADD: sets
     * present[i] in the same way, then sets the positions.  Returns 0, or non-zero on failure
     * (the host keeps its own exception; the core returns BF_EHOST).  A position may occur
     * twice. */
    int (*apply)(
        void *ctx, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present);
    void *ctx; /* the first argument of apply; must outlive the filter */
};

/* Home "redis" through a client that the host already has. The client has the connections and
 * sends commands; the core writes the commands. They are in Redis's own protocol and can be
 * sent unchanged. A client that needs the arguments reads them with bf_command_next and
 * bf_command_arg. The last command to each server is an ECHO of a random number (in a cluster, the
 * last command of each request). If a reply to it is another number, replies of this round trip may
 * belong to other commands: then the core returns an error and no reply. */
typedef struct {
    const char *key; /* a key of all these commands; in a cluster it determines the node */
    size_t key_len;
    const void *bytes; /* the commands, one after another */
    size_t len;        /* length of bytes                 */
    size_t commands;   /* number of commands              */
} bf_redis_part;
typedef struct bf_reply_sink bf_reply_sink;
enum {
    BF_CLIENT_ANSWERED = 0, /* the sink has a reply to each command; an error reply is a reply   */
    BF_CLIENT_UNSENT = 1,   /* nothing was sent: no connection                                   */
    BF_CLIENT_LOST = 2,     /* unknown whether Redis executed the commands                       */
    BF_CLIENT_STOP = 3      /* the host was interrupted: the core returns BF_EHOST               */
};
struct bf_redis_client {
    /* Sends the commands of all `parts`, and puts the replies into the sink in the order of the
     * commands. Must not send a command again, unless Redis has replied that it did not execute the
     * command (MOVED, ASK, TRYAGAIN). Must not reuse a connection that may still deliver a reply to
     * an earlier command. Returns one of BF_CLIENT_...; calls bf_reply_fault before it returns
     * anything but ANSWERED. report = false: the user will not get the fault, so the host must not
     * keep an exception. */
    int (*exchange)(
        void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink);
    const char *name; /* the server's name in messages, e.g. "127.0.0.1:6379"; no password */
    bool cluster;     /* keys that are used together must share a hash slot */
    void *ctx;
    /* Closes the connections of the last exchange: their next reply may be wrong, too. The core
     * calls it if the replies do not fit the commands. NULL: not needed, because exchange closes
     * them if bf_reply_feed returns BF_EFORMAT. */
    void (*drop)(void *ctx);
}; /* this struct and all it points to must outlive the filter */

/* ---- for language bindings: inside bf_redis_client.exchange ---------------------------------- */
/* Put one reply into the sink, value by value.  An array is array(n) followed by its n members.
 * The reply to each command must be complete. An example of a status is "+OK". The status QUEUED
 * becomes an error: it comes from a transaction of the user, because the core starts none. */
void bf_reply_put_integer(bf_reply_sink *sink, int64_t value);
void bf_reply_put_text(bf_reply_sink *sink, const void *bytes, size_t len);
void bf_reply_put_status(bf_reply_sink *sink, const void *bytes, size_t len);
void bf_reply_put_error(bf_reply_sink *sink, const void *bytes, size_t len);
void bf_reply_put_nil(bf_reply_sink *sink);
void bf_reply_put_array(bf_reply_sink *sink, size_t n);
/* Replaces the functions above: puts bytes into the sink as the server sent them, in pieces of any
 * size. Returns the number of complete replies since the beginning, or since the last
 * bf_reply_expect, or BF_EFORMAT if the bytes are not the replies to the commands. */
int64_t bf_reply_feed(bf_reply_sink *sink, const void *bytes, size_t len);
/* Sets *text to the error reply to command i (counted over all parts). Returns the length of the
 * text, which has no NUL; 0 if the reply is not an error. */
size_t bf_reply_refusal(const bf_reply_sink *sink, size_t i, const char **text);
/* Declares the commands to which the next replies belong. Call it if replies do not come in the
 * order of the commands: if they come from several nodes, or if commands were sent again (send the
 * ECHO of their request after them, too). The
 * ranges must exist until all their replies have arrived. Drops the bytes of an incomplete reply.
 * Replies to a range whose first is BF_NO_REPLY are ignored. */
typedef struct {
    size_t first, count;
} bf_redis_range;
#define BF_NO_REPLY SIZE_MAX
void bf_reply_expect(bf_reply_sink *sink, const bf_redis_range *ranges, size_t nranges);
/* Reports the connection of the replies: a number that increases with each new connection. When the
 * number changes, the filter's cache is emptied. A failed call on keys empties the cache, too. */
void bf_reply_connection(bf_reply_sink *sink, uint64_t number);
/* Reports why there are no replies: an errno (ETIMEDOUT, ECONNRESET...) or 0, and a text of the
 * host. */
void bf_reply_fault(bf_reply_sink *sink, int sys_errno, const void *text, size_t len);
/* Reads commands from bytes.  Initial value: { bytes, bytes + len, 0 }. */
typedef struct {
    const char *at, *end;
    size_t args;
} bf_commands;
/* Moves to the next command, which has c->args arguments (including its name).  Returns false if
 * there is none. */
bool bf_command_next(bf_commands *c);
/* Parses "*N CR LF" (kind '*') or "$N CR LF" (kind '$'), with N of at most 10 digits.  Returns the
 * header's length, 0 if it is incomplete, or -1 if the bytes are not such a header.  For hosts that
 * read commands of a client that they do not trust. */
ptrdiff_t bf_command_header(const char *at, const char *end, char kind, size_t *n);
/* Reads the next argument of this command into *arg.  Returns false if there is none. */
bool bf_command_arg(bf_commands *c, bf_key *arg);

/* ---- for language bindings: handles, batches, warnings --------------------------------------- */
/* Adds a reference and returns f. Each bf_retain needs a bf_close; the last bf_close frees the
 * filter. For hosts that read a handle from a table under a lock, and use the handle without the
 * lock. */
bf_filter *bf_retain(bf_filter *f); /* accepts NULL */
/* Like bf_save, but never replaces a file. If path exists, also if it was created during the call,
 * returns BF_EIO with sys_errno EEXIST. */
int bf_save_new(bf_filter *f, const char *path, bf_error *err);
/* Creates a filter in Redis with exactly the contents of from, which is in memory or in a file: its
 * parameters, parts, numbers of keys and epoch. to has the storage, the secret if there is one, and
 * what else a handle needs; its m, n, k and p are not used. If the filter exists, returns NULL and
 * BF_EIO with sys_errno EEXIST. */
bf_filter *bf_upload_new(bf_filter *from, const bf_spec *to, bf_error *err);
/* For hosts that speak BF.SCANDUMP and BF.LOADCHUNK. The bytes of format "redisbloom" are the
 * header, which is the data of the first piece, and the data of all later pieces one after the
 * other. bf_redisbloom_length checks a header of len bytes (more may follow) and returns the length
 * of all bytes, or BF_EFORMAT or BF_ENOTSUP. So LOADCHUNK KEY 1 DATA allocates that many bytes and
 * copies the header; LOADCHUNK KEY i DATA copies the data so that it ends at offset header length +
 * i - 1; bf_from_bytes_as then reads the filter.
 * bf_redisbloom_dump returns the length of the data that SCANDUMP KEY iterator returns for f, or 0
 * after the last piece, and writes the data if cap is not smaller. The new iterator is 1 for
 * iterator 0, else iterator plus the length.
 * bf_redisbloom_piece sets *piece to the bytes that SCANDUMP KEY iterator returns, with the new
 * iterator 1 for iterator 0, else iterator + piece->len. Returns 1; 0 after the last piece (its
 * iterator is 0, its data empty); or BF_EFORMAT. */
#define BF_REDISBLOOM_PIECE (16u << 20)
typedef struct {
    uint64_t from, len; /* bytes */
} bf_range;
int64_t bf_redisbloom_length(const void *header, size_t len, bf_error *err);
int64_t bf_redisbloom_dump(bf_filter *f, uint64_t iterator, void *to, size_t cap, bf_error *err);
int bf_redisbloom_piece(const void *header, size_t len, uint64_t iterator, bf_range *piece);
/* Removes the temporary files that killed processes left in this folder (of bf_save, bf_save_new
 * and bf_open), and no file that a living process still writes. For hosts that own a folder: call
 * it at their start. bf_save and bf_save_new do the same in the folder of their path, but look at
 * 1,000 files only. Returns the number of removed files, or an error if the folder cannot be
 * read. */
int bf_remove_leftovers(const char *folder, bf_error *err);
/* For hosts that read an image from a stream, whose length is unknown. Given the first len bytes of
 * the stream, returns how many bytes to read next. Returns 0 if bf_from_bytes can decide: the bytes
 * are exactly one filter, or no further byte would make them one. Call it again after that many
 * bytes; at the end of the stream, call bf_from_bytes. Other data may follow the filter. */
uint64_t bf_image_wants(const void *data, size_t len);
/* For hosts that let their users close a filter at any time.  Returns BF_EBUSY while a call with
 * f runs code of the host (a clock, a client), else 0.  If bf_close is called during such a
 * call, the filter is freed when the call returns.  In a forked child the calls of the parent's
 * other threads are ignored; the memory of such a filter is freed when the process ends. */
int bf_busy(bf_filter *f, bf_error *err);
/* For hosts that leave calls by longjmp: ends the calls of this thread that run code of the host.
 * The memory and locks of these calls are not released.
 * Filters of these calls can only be closed. */
void bf_abandon_calls(void);
/* For hosts that limit sizes.  Returns 1 if f must grow to take `keys` new keys; *bytes is then the
 * size of its file afterwards, an upper bound in other homes.  Returns 0 if it need not grow. */
int bf_size_after(bf_filter *f, uint64_t keys, uint64_t *bytes, bf_error *err);
/* Switches between plain and atomic kernels.  No other thread may use the filter at that moment. */
void bf_set_threads(bf_filter *f, bool threads);
/* For hosts that keep a handle between requests. Returns 1 if bf_open(spec) would open the same
 * filter that f has open. Returns 0 if the filter must be opened again: its file was replaced
 * (other device, inode or time of creation) or deleted. Returns a negative code for a spec that
 * bf_open would refuse. With spec NULL, returns 1 if the name by which f was opened still belongs
 * to its file or key in Redis, and 1 for a filter in memory; a negative code if Redis cannot be
 * asked. */
int bf_is_current(const bf_filter *f, const bf_spec *spec, bf_error *err);
/* For hosts with a global lock (Python's GIL): a call with f calls begin(ctx) before it waits for a
 * lock or for a disk, and end(ctx, result of begin) afterwards, in the same thread. Neither hook
 * may use f. A call that waits 120 seconds for a lock returns BF_EIO. */
void bf_set_wait_hooks(
    bf_filter *f, void *(*begin)(void *ctx), void (*end)(void *ctx, void *began), void *ctx);
/* For hosts with green threads. For a filter that may run host code: each call with f calls enter
 * first, and leave in the end. enter waits until no other thread or green thread is between enter
 * and leave, and returns 0. BF_EBUSY: this green thread is between enter and leave of a filter, so
 * it must not wait. second: not counting this call, which uses two filters and has entered the
 * first. BF_EIO: it has waited 120 seconds. BF_EHOST: the host was interrupted. Without these
 * hooks, a second green thread of a thread gets BF_EBUSY. */
void bf_set_turn_hooks(
    bf_filter *f, int (*enter)(void *ctx, bool second), void (*leave)(void *ctx), void *ctx);
/* For hosts with event threads. After bf_set_nowait(true), calls of this thread return BF_EBUSY
 * ("...; this call does not wait") if they would wait for a lock or for a disk, or make a filter
 * grow: repeat such a call in another thread. In a batch, the first err->key keys are then complete
 * and have their answers: repeat the call with the other keys. Set each[] to zeros before the
 * first call. If each[i] is 1 before the repetition, key i was new, even if the repetition answers
 * 0. Calls on filters in Redis wait for the server in any case. */
void bf_set_nowait(bool on);
/* For hosts that answer within a deadline. From then on, calls of this thread wait for locks until
 * this time at most: ms of CLOCK_MONOTONIC; 0: each wait takes up to 120 seconds. */
void bf_set_deadline(uint64_t ms);
/* For hosts that keep connections or locks: returns the number of this process, above 0. Unlike a
 * process id, the number always differs between a forked child and its parent. */
int bf_process(void);
/* For hosts that gather keys: returns how many keys to pass to one call of a batch function, 1
 * to BF_BATCH_SIZE_MAX.  In Redis this many keys take one round trip; in other homes they fit
 * the processor's caches. */
#define BF_BATCH_SIZE_MAX 1000
size_t bf_batch_size(const bf_filter *f);
/* Add or test the text lines of a buffer; each ends before the byte sep. A call handles at most
 * bf_batch_size text lines (more with bf_use_threads) and about 4 MiB. It moves `at` past these
 * lines, adds their number to `keys` and the number of new (or present) lines to `hits`. Returns 1,
 * or 0 if no complete text line is left. On error `at`, `keys` and `hits` do not change; if a text
 * line was refused, err->key is its index, counted from the first text line of the first call.
 * `kept` also has the text lines of the failed call that have an answer. */
typedef struct {
    const char *at, *end; /* the rest of the buffer                                            */
    char sep;
    bool last;     /* bytes after the last sep are a text line, too                     */
    uint8_t *each; /* receives one answer per text line, and is moved on; NULL = none   */
    char *kept;    /* receives the text lines whose answer is keep, each with its sep,
                    * and is moved on; needs end - at + 1 bytes; NULL = none            */
    uint8_t keep;
    uint64_t keys, hits;
} bf_lines;
int bf_add_lines(bf_filter *f, bf_lines *l, bf_error *err);
int bf_test_lines(bf_filter *f, bf_lines *l, bf_error *err);
/* Splits the buffer without a filter: stores the next text lines, at most cap, as keys that point
 * into the buffer, and returns their number. */
size_t bf_next_lines(bf_lines *l, bf_key *keys, size_t cap);
/* Add or test n keys that the threads of bf_use_threads gather while they hash them, as bf_add_many
 * and bf_test_many do with an array of keys. */
#define BF_COLUMN_KEYS 512
#define BF_COLUMN_ROOM 32
typedef struct {
    /* Stores keys number `from` to from + n - 1 in keys[]; n is at most BF_COLUMN_KEYS. They may
     * point into `text`, which has BF_COLUMN_ROOM bytes for each. Is called by several threads at
     * once. Returns how many keys were stored; if fewer than n, the next key is damaged. Then the
     * batch ends with BF_EHOST, and err->key is the damaged key: the keys before it are added, or
     * have their answers, and no key after it is added. */
    size_t (*gather)(const void *ctx, size_t from, size_t n, bf_key *keys, char *text);
    const void *ctx;
} bf_column;
int64_t bf_add_column(
    bf_filter *f, const bf_column *column, size_t n, uint8_t *each, bf_error *err);
int64_t bf_test_column(
    bf_filter *f, const bf_column *column, size_t n, uint8_t *each, bf_error *err);
#define BF_SENTENCE_BYTES 224
/* For hosts that warn once when a filter is overfull. Call it after the filter was created or
 * opened. `give` gets a sentence without a full stop; the host appends how to turn its warnings
 * off. It is called once, by bf_begin_adds or bf_add, before anything is added; again after a
 * clear, a rebuild or bf_set_overfull. If it returns non-zero, the call adds nothing and returns
 * BF_EHOST. It may use any filter, also f, but must not free f if it returns 0. It is not called
 * with BF_OVERFULL_RAISE or BF_OVERFULL_IGNORE. To find out when the filter is overfull, calls that
 * add sometimes read a sample of the bits; in Redis that takes one round trip per part. */
void bf_set_warning(bf_filter *f, int (*give)(void *ctx, const char *sentence), void *ctx);
/* Gives the warning if it is due. Call it at the beginning of each call that adds keys by
 * bf_add_many, bf_add_lines or bf_unite; bf_add does it itself. So a call of the host that consists
 * of many calls of the core has either added nothing, or is not interrupted by the warning. */
int bf_begin_adds(bf_filter *f, bf_error *err);
/* Returns true if bf_begin_adds would read bits, and so might give the warning. */
bool bf_check_is_due(const bf_filter *f);
/* For the same hosts: call it once after a filter was created or opened. Writes a warning to
 * sentence and returns 1 if hash functions of the scheme are weak on ordinary keys, or if bf_open
 * created keys in Redis that are so large that other clients must wait. Returns 0 if there is no
 * warning, or with BF_OVERFULL_IGNORE. */
int bf_open_warning(const bf_filter *f, char *sentence, size_t cap);
/* Returns true if the scheme can hash every key, so functions of keys do not refuse one. */
bool bf_takes_any_key(const bf_filter *f);
/* After bf_plan: writes the warning that bf_open_warning would write about large keys in Redis. */
int bf_plan_warning(const bf_spec *spec, char *sentence, size_t cap);

/* Stores how many seconds are left until Redis deletes the filter; 0: it never does, or the filter
 * is not in Redis. One round trip per key. Returns 0 or an error. */
int bf_expires_in(bf_filter *f, double *seconds, bf_error *err);

/* ---- for language bindings: texts ------------------------------------------------------------ */
/* Refuses a value that does not fit bf_spec's types: fills *err, for example with "m must be 1 to
 * 1099511627776, got -5", and returns BF_EINVAL. name is "m", "n", "k", "p", ...; value is its text
 * as the user wrote it. */
int bf_refuse(bf_error *err, const char *name, const char *value);
/* Reads bf_spec.overfull from "warn", "raise" or "ignore".  Returns 0 or BF_EINVAL. */
int bf_read_overfull(const char *text, unsigned *overfull, bf_error *err);
/* Returns the text of bf_info.overfull, or NULL if it is 0. */
const char *bf_overfull_name(unsigned overfull);
/* Changes bf_spec.overfull of an open filter. No other thread may use the filter at that moment. */
void bf_set_overfull(bf_filter *f, unsigned overfull);
/* Returns true if this storage is the URL of a home: redis://, rediss:// or unix://. */
bool bf_is_url(const char *storage);
/* Returns 1 if the storage is a file, and sets *path to its path; *path points into `storage`.
 * file:PATH is the file PATH, even if PATH looks like a URL. Returns 0 if the storage is a URL, and
 * BF_EINVAL if it is a mistake, for example redis:host or http://host. */
int bf_storage_path(const char *storage, const char **path, bf_error *err);
/* Copies a text, for example a storage, without passwords: without the text between :// and @ of
 * each URL. Writes at most cap bytes including a NUL; returns the length of the complete result. */
size_t bf_hide_passwords(const char *text, char *out, size_t cap);
/* Copies the URL of a filter, and appends `more` to the name of its key. `more` must not contain a
 * character that a URL must encode. Writes at most cap bytes and returns the length, as
 * bf_hide_passwords does. */
size_t bf_url_beside(const char *url, const char *more, char *out, size_t cap);
/* For hosts that restrict files: finds the files that bf_open uses for this URL, i = 0, 1, ...
 * Returns 1 and sets *path, which the caller frees; returns 0 after the last file, or an error
 * that bf_open would return. */
int bf_url_file(const char *url, unsigned i, char **path, bf_error *err);
#ifdef __cplusplus
}
#endif
#endif
