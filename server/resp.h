/* resp.h - the protocol of Redis (RESP2, RESP3) on a connection whose first byte is `*`.
 *
 *   conn.c -> resp.c (frames, replies) -> commands.c (the table) -> filter_commands.c -> key_ops.c
 *
 * A command is an array of bulk strings.  If a client sends several commands without waiting, equal
 * commands about single keys of one filter are gathered: they become one batch of the core.
 *
 *   *3 $6 BF.ADD $4 seen $1 a   *3 $6 BF.ADD $4 seen $1 b      prefix: the bytes before $1
 *
 * Commands that may wait are jobs, as in HTTP.  Before a command is complete, its bytes are in
 * request_in.body. */
#ifndef BFD_RESP_H
#define BFD_RESP_H
#include "key_ops.h"
#include "keys.h"

/* The arguments of a complete command that were not read yet. */
typedef struct {
    text rest;
    size_t left;
} arguments;
text next_argument(arguments *x); /* empty if there is none */

enum { WRITES = 1, FREE = 2, GATHERED = 4, ONE_KEY = 8, MANY_KEYS = 16, ARRAY = 32 };
#define OF(verb) ((unsigned)(verb) << 8) /* in flags of commands about items; VERB_TEST is 0 */
static inline verb verb_of(unsigned flags) { return (verb)(flags >> 8); }
typedef void command_answer(worker *w, const request *q, arguments *x, reply *a);
typedef struct command {
    const char *name, *args; /* args: as in the documentation */
    /* as in Redis: the number of arguments with the name; negative: at least so many */
    int arity;
    /* WRITES: may change a filter.  FREE: needs no token.  GATHERED: may be gathered.  ONE_KEY,
     * MANY_KEYS: the first argument is, or all are, names of filters.  ARRAY: takes many items, and
     * its reply is an array */
    unsigned flags;
    int how;
    command_answer *answer;
    const char *summary;
} command;
extern const command commands[];
extern const size_t command_count;

/* ---- resp.c ---- */
bool resp_is(const conn *c);
/* As parse() and refuse(), for connections of RESP. */
size_t resp_parse(worker *w, conn *c, const char *bytes, size_t len);
void resp_refuse(worker *w, conn *c, int status);
/* Counts, logs and writes the reply. */
void resp_finish(worker *w, conn *c, const request *q, reply *a, uint64_t began);
/* Splits a complete command. */
arguments resp_arguments(text command);

/* Append to a reply.  If the memory does not suffice they set a->ends, and resp_finish() replaces
 * the reply by an error. */
void put_status(reply *a, const char *literal);
void put_integer(reply *a, int64_t v);
void put_text(reply *a, text t);
void put_words(reply *a, const char *words);
void put_null(const request *q, reply *a);
void put_array(reply *a, size_t n);
void put_map(const request *q, reply *a, size_t pairs);
/* Replaces the reply by an error.  The format begins with the error's code, such as ERR. */
void put_error(reply *a, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Encodes an error that reply_status() has set. */
void put_refusal(reply *a);
/* Encodes a->made of key_batch_on(): as an array, or as one reply per key. */
void put_answers(const request *q, reply *a, verb v, bool array);
/* Replaces an error by the answers, not encoded, to the keys before it. */
void take_answers(reply *a);
/* Replaces the error of gathered commands by the replies to those that were answered before it. */
void keep_answers(request *q, reply *a);

/* ---- commands.c ---- */
const command *command_find(text name);
bool is_word(text t, const char *word); /* Ignores case.  word: lower case. */
void wrong_arity(const request *q, reply *a);
/* Answers, or sets a->defer. */
void command_route(worker *w, const request *q, reply *a);
/* As command_route(), for threads of jobs.c. */
void command_in_job(worker *w, const request *q, reply *a);

/* ---- scandump.c ---- */
command_answer bf_scandump_command, bf_loadchunk_command;
/* Frees the filters whose next piece did not come within --deadline; all of them if `all`. */
void loads_expire(server *s, bool all);

/* ---- filter_commands.c ---- */
bool filter_exists(worker *w, text name, reply *a); /* false also after an error */
command_answer bf_keys_command, bf_insert_command, bf_reserve_command, bf_card_command,
    bf_info_command, bf_merge_command, dbsize_command, exists_command, del_command, type_command,
    keys_command, scan_command;
#endif
