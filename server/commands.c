/* commands.c - the table of the commands of RESP, and the commands that are not about filters.
 * docs/resp.md has the same table. */
#include "output.h"
#include "resp.h"
#include <stdio.h>

enum { NAME_LOWER = 24 }; /* bytes of the longest name, and more */

bool is_word(text t, const char *word) { return text_is_nocase(t, (text){ word, strlen(word) }); }

/* The command's name in lower case, as Redis shows it. */
static const char *lower_name(const command *row, char room[NAME_LOWER])
{
    size_t i = 0;
    for (; row->name[i]; i++) room[i] = (char)(row->name[i] | (row->name[i] >= 'A' ? 32 : 0));
    room[i] = 0;
    return room;
}

void wrong_arity(const request *q, reply *a)
{
    char room[NAME_LOWER];
    put_error(
        a, 400, "ERR wrong number of arguments for '%s' command", lower_name(q->command, room));
}

/* ---- connecting ---- */
static void ping_command(worker *w, const request *q, arguments *x, reply *a)
{
    (void)w;
    if (x->left > 1)
        wrong_arity(q, a);
    else if (x->left)
        put_text(a, next_argument(x));
    else
        put_status(a, "PONG");
}

static void echo_command(worker *w, const request *q, arguments *x, reply *a)
{
    (void)w, (void)q;
    put_text(a, next_argument(x));
}

static void select_command(worker *w, const request *q, arguments *x, reply *a)
{
    const text db = next_argument(x);
    (void)w, (void)q;
    if (text_is(db, TEXT("0")))
        put_status(a, "OK");
    else
        put_error(a, 400, "ERR DB index is out of range");
}

static void quit_command(worker *w, const request *q, arguments *x, reply *a)
{
    (void)q, (void)x;
    put_status(a, "OK");
    w->current_conn->close = true;
}

static void reset_command(worker *w, const request *q, arguments *x, reply *a)
{
    (void)q, (void)x;
    w->current_conn->protocol = 2;
    w->current_conn->authorized = false;
    put_status(a, "RESET");
}

/* Checks the token.  Returns false after an error: the connection is then as it was, as in Redis.
 */
static bool log_in(worker *w, text token, reply *a)
{
    const bool right = access_is_token(w->s, token);
    w->current_conn->authorized |= right;
    if (!right) put_error(a, 401, "WRONGPASS invalid username-password pair or user is disabled.");
    return right;
}

static void auth_command(worker *w, const request *q, arguments *x, reply *a)
{
    const bool with_user = x->left == 2;
    (void)q;
    if (x->left > 2) {
        put_error(a, 400, "ERR syntax error");
        return;
    }
    if (with_user) next_argument(x); /* any user name: there is one token */
    if (w->s->o.token) {
        if (log_in(w, next_argument(x), a)) put_status(a, "OK");
    } else if (with_user)
        put_status(a, "OK");
    else
        put_error(a, 400,
            "ERR AUTH <password> called without any password configured for the default user. "
            "Are you sure your configuration is correct?");
}

static void put_hello(worker *w, const request *q, reply *a)
{
    const char *const words[][2] = { { "server", "bloomfilterd" }, { "version", bf_version() },
        { "mode", "standalone" }, { "role", "master" } };
    put_map(q, a, 7);
    for (size_t i = 0; i < 8; i++) put_words(a, words[i / 2][i % 2]);
    put_words(a, "proto");
    put_integer(a, q->resp);
    put_words(a, "id");
    put_integer(a, (int64_t)w->current_conn->id);
    put_words(a, "modules");
    put_array(a, 0);
}

static void hello_command(worker *w, const request *q, arguments *x, reply *a)
{
    conn *c = w->current_conn;
    request answered = *q;
    uint64_t version = c->protocol;
    if (x->left && !parse_whole(next_argument(x), 1000, &version)) {
        put_error(a, 400, "ERR Protocol version is not an integer or out of range");
        return;
    }
    if (version != 2 && version != 3) {
        put_error(a, 400, "NOPROTO unsupported protocol version");
        return;
    }
    while (x->left) {
        const text option = next_argument(x);
        const bool auth = is_word(option, "auth"), name = is_word(option, "setname");
        if (x->left < (auth ? 2u : 1u) || (!auth && !name)) {
            put_error(a, 400, "ERR Syntax error in HELLO option '%.*s'",
                (int)(option.len < 60 ? option.len : 60), option.ptr);
            return;
        }
        next_argument(x);
        if (auth && w->s->o.token && !log_in(w, next_argument(x), a)) return;
        if (auth && !w->s->o.token) next_argument(x);
    }
    if (w->s->o.token && !c->authorized) {
        put_error(a, 401,
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
            "HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and "
            "select the RESP protocol version at the same time");
        return;
    }
    c->protocol = (uint8_t)version;
    answered.resp = (unsigned)version;
    put_hello(w, &answered, a);
}

/* Accepts what clients send at the beginning of a connection.  Names are not stored. */
static void client_command(worker *w, const request *q, arguments *x, reply *a)
{
    static const char *const accepted[] = { "setname", "setinfo", "no-evict", "no-touch" };
    const text what = next_argument(x);
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        if (is_word(what, accepted[i])) {
            put_status(a, "OK");
            return;
        }
    if (is_word(what, "id"))
        put_integer(a, (int64_t)w->current_conn->id);
    else if (is_word(what, "getname"))
        put_null(q, a);
    else
        put_error(a, 400, "ERR unknown subcommand '%.*s'. Try CLIENT HELP.",
            (int)(what.len < 60 ? what.len : 60), what.ptr);
}

static void info_command(worker *w, const request *q, arguments *x, reply *a)
{
    char lines[512];
    const server *s = w->s;
    size_t count;
    served **all = filters_list(&w->s->fs, &count);
    filters_list_free(all, count);
    (void)q, (void)x;
    snprintf(lines, sizeof lines,
        "# Server\r\nredis_version:7.2.0\r\nredis_mode:standalone\r\nbloomfilterd_version:%s\r\n"
        "tcp_port:%u\r\nuptime_in_seconds:%llu\r\n\r\n# Clients\r\nconnected_clients:%llu\r\n\r\n"
        "# Stats\r\ntotal_commands_processed:%llu\r\n\r\n# Replication\r\nrole:master\r\n\r\n"
        "# Keyspace\r\ndb0:keys=%zu,expires=0,avg_ttl=0\r\n",
        bf_version(), s->o.port, (unsigned long long)(clock_ms() - s->started) / 1000,
        (unsigned long long)counter_get(&s->connections), (unsigned long long)stats_requests(s),
        count);
    put_words(a, lines);
}

static command_answer command_command;

/* ---- the table ---- */
#define NO_ARGS ""
const command commands[] = {
    { "BF.ADD", "key item", 3, WRITES | GATHERED | ONE_KEY | OF(VERB_ADD), FAST, bf_keys_command,
        "Adds an item; creates the filter (100 items at 1 %, EXPANSION 2) if there is none" },
    { "BF.MADD", "key item [item ...]", -3, WRITES | ONE_KEY | ARRAY | OF(VERB_ADD), FAST,
        bf_keys_command, "Adds items; creates the filter as BF.ADD does" },
    { "BF.EXISTS", "key item", 3, GATHERED | ONE_KEY, FAST, bf_keys_command,
        "Tests an item; 0 if the filter does not exist" },
    { "BF.MEXISTS", "key item [item ...]", -3, ONE_KEY | ARRAY, FAST, bf_keys_command,
        "Tests items" },
    { "BF.INSERT",
        "key [CAPACITY capacity] [ERROR error] [EXPANSION expansion] [NOCREATE] [NONSCALING] "
        "ITEMS item [item ...]",
        -4, WRITES | ONE_KEY | ARRAY | OF(VERB_ADD), FAST, bf_insert_command,
        "Adds items; creates the filter with these parameters" },
    { "BF.RESERVE",
        "key error_rate capacity [EXPANSION expansion] [NONSCALING] [COUNTING] [WINDOW seconds]",
        -4, WRITES | ONE_KEY, WHOLE, bf_reserve_command,
        "Creates a filter; COUNTING: items can be removed; WINDOW: items are forgotten" },
    { "BF.CARD", "key", 2, ONE_KEY, SLOW, bf_card_command, "Number of different items" },
    { "BF.INFO", "key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]", -2, ONE_KEY, SLOW,
        bf_info_command, "Parameters and number of items" },
    { "BF.REMOVE", "key item [item ...]", -3, WRITES | ONE_KEY | ARRAY | OF(VERB_REMOVE), FAST,
        bf_keys_command, "Undoes one add per item of a COUNTING filter; 0 if the item was absent" },
    { "BF.COUNT", "key item", 3, ONE_KEY | OF(VERB_COUNT), FAST, bf_keys_command,
        "How often an item of a COUNTING filter was added, 15 means 15 or more" },
    { "BF.MERGE", "destination source [source ...]", -3, WRITES | MANY_KEYS, WHOLE,
        bf_merge_command, "Adds all items of the sources; creates the destination" },
    { "BF.SCANDUMP", "key iterator", 3, ONE_KEY, WHOLE, bf_scandump_command,
        "A piece of a filter of scheme redisbloom, and the next iterator" },
    { "BF.LOADCHUNK", "key iterator data", 4, WRITES | ONE_KEY, WHOLE, bf_loadchunk_command,
        "Loads the pieces of BF.SCANDUMP in their order; the filter exists after the last" },
    { "PING", "[message]", -1, 0, FAST, ping_command, "Answers PONG or the message" },
    { "ECHO", "message", 2, 0, FAST, echo_command, "Answers the message" },
    { "HELLO", "[protover [AUTH username token] [SETNAME name]]", -1, FREE, FAST, hello_command,
        "Selects RESP2 or RESP3" },
    { "AUTH", "[username] token", -2, FREE, FAST, auth_command,
        "Sends the token of --token; any user name" },
    { "SELECT", "index", 2, 0, FAST, select_command, "Accepts 0 only" },
    { "QUIT", NO_ARGS, -1, FREE, FAST, quit_command, "Closes the connection" },
    { "RESET", NO_ARGS, 1, FREE, FAST, reset_command, "RESP2, without the token" },
    { "CLIENT", "SETNAME | SETINFO | NO-EVICT | NO-TOUCH | ID | GETNAME", -2, 0, FAST,
        client_command, "Accepts what clients send; names are not stored" },
    { "COMMAND", "[COUNT | LIST | INFO [name ...] | DOCS [name ...]]", -1, 0, FAST, command_command,
        "The commands" },
    { "INFO", "[section ...]", -1, 0, FAST, info_command, "Version, connections, filters" },
    { "DBSIZE", NO_ARGS, 1, 0, FAST, dbsize_command, "Number of filters" },
    { "EXISTS", "key [key ...]", -2, MANY_KEYS, SLOW, exists_command,
        "How many of the names are filters" },
    { "DEL", "key [key ...]", -2, WRITES | MANY_KEYS, WHOLE, del_command,
        "Deletes filters; returns how many" },
    { "UNLINK", "key [key ...]", -2, WRITES | MANY_KEYS, WHOLE, del_command, "As DEL" },
    { "TYPE", "key", 2, ONE_KEY, SLOW, type_command, "MBbloom--, or none" },
    { "KEYS", "pattern", 2, 0, FAST, keys_command, "Names of filters, with * and ?" },
    { "SCAN", "cursor [MATCH pattern] [COUNT count] [TYPE type]", -2, 0, FAST, scan_command,
        "As KEYS, all in one reply" },
};
const size_t command_count = sizeof commands / sizeof *commands;
_Static_assert(sizeof commands / sizeof *commands <= COMMANDS_MAX, "worker.commands is too small");

const command *command_find(text name)
{
    for (size_t i = 0; i < command_count; i++)
        if (is_word(name, commands[i].name)) return &commands[i];
    return NULL;
}

/* ---- COMMAND ---- */
static void put_command(const command *row, reply *a)
{
    const bool keys = row->flags & (ONE_KEY | MANY_KEYS);
    char room[NAME_LOWER];
    put_array(a, 10);
    put_words(a, lower_name(row, room));
    put_integer(a, row->arity);
    put_array(a, 1);
    put_status(a, row->flags & WRITES ? "write" : "readonly");
    put_integer(a, keys);
    put_integer(a, row->flags & MANY_KEYS ? -1 : keys);
    put_integer(a, keys);
    for (int i = 0; i < 4; i++) put_array(a, 0);
}

static void put_docs(const request *q, const command *row, reply *a)
{
    char room[NAME_LOWER];
    const char *const pairs[] = { "summary", row->summary, "since", "1.0.0", "group",
        strncmp(row->name, "BF.", 3) ? "generic" : "bf", "syntax", row->args };
    put_words(a, lower_name(row, room));
    put_map(q, a, 4);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) put_words(a, pairs[i]);
}

/* The commands that the arguments name; all without arguments.  docs: unknown names are left out,
 * else they are null. */
static void list_commands(const request *q, arguments *x, bool docs, reply *a)
{
    arguments names = *x;
    size_t n = 0;
    if (x->left > command_count) { /* a reply is many times longer than the name */
        put_error(a, 400, "ERR COMMAND takes at most %zu names, got %zu", command_count, x->left);
        return;
    }
    while (names.left) n += command_find(next_argument(&names)) || !docs;
    if (!x->left) n = command_count;
    docs ? put_map(q, a, n) : put_array(a, n);
    for (size_t i = 0, all = !x->left; all ? i < n : x->left; i++) {
        const command *row = all ? &commands[i] : command_find(next_argument(x));
        if (row && docs)
            put_docs(q, row, a);
        else if (row)
            put_command(row, a);
        else if (!docs)
            put_null(q, a);
    }
}

static void command_command(worker *w, const request *q, arguments *x, reply *a)
{
    const text what = next_argument(x);
    char room[NAME_LOWER];
    (void)w;
    if (!what.len || is_word(what, "info"))
        list_commands(q, x, false, a);
    else if (is_word(what, "docs"))
        list_commands(q, x, true, a);
    else if (is_word(what, "count"))
        put_integer(a, (int64_t)command_count);
    else if (is_word(what, "list")) {
        put_array(a, command_count);
        for (size_t i = 0; i < command_count; i++) put_words(a, lower_name(&commands[i], room));
    } else
        put_error(a, 400, "ERR unknown subcommand '%.*s'. Try COMMAND HELP.",
            (int)(what.len < 60 ? what.len : 60), what.ptr);
}

/* ---- dispatch ---- */
static void unknown_command(const request *q, reply *a)
{
    arguments x = resp_arguments(q->body);
    const text name = next_argument(&x), first = next_argument(&x);
    put_error(a, 400, "ERR unknown command '%.*s', with args beginning with: %s%.*s%s",
        (int)(name.len < 40 ? name.len : 40), name.ptr, first.len ? "'" : "",
        (int)(first.len < 40 ? first.len : 40), first.ptr, first.len ? "' " : "");
}

static bool has_arity(const command *row, size_t args)
{
    return row->arity < 0 ? args >= (size_t)-row->arity : args == (size_t)row->arity;
}

/* True if all names of filters are valid; else replies with an error. */
static bool has_names(const request *q, arguments x, reply *a)
{
    size_t n = q->command->flags & MANY_KEYS ? x.left : (q->command->flags & ONE_KEY) != 0;
    while (n--) {
        const text name = next_argument(&x);
        if (filter_name_ok(name)) continue;
        put_error(a, 400,
            "ERR the name of a filter must be 1 to %d of A-Z a-z 0-9 _ . : { } @ -, the first not "
            "a point; got %.*s",
            NAME_BYTES, (int)(name.len < 40 ? name.len : 40), name.ptr);
        return false;
    }
    return true;
}

static void run(worker *w, const request *q, reply *a)
{
    arguments x = resp_arguments(q->body);
    next_argument(&x);
    a->status = 200;
    a->encoded = true;
    q->command->answer(w, q, &x, a);
}

void command_in_job(worker *w, const request *q, reply *a)
{
    run(w, q, a);
    a->understood = true;
}

void command_route(worker *w, const request *q, reply *a)
{
    const command *row = q->command;
    arguments x = resp_arguments(q->body);
    const size_t args = x.left;
    next_argument(&x);
    if (w->s->o.token && !w->current_conn->authorized && !(row && row->flags & FREE)) {
        put_error(a, 401, "NOAUTH Authentication required.");
        return;
    }
    if (!row)
        unknown_command(q, a);
    else if (!has_arity(row, args))
        wrong_arity(q, a);
    else if (has_names(q, x, a)) {
        a->understood = true;
        a->defer = row->how != FAST && !w->may_block;
        if (!a->defer) run(w, q, a);
    }
    if (!a->defer || !w->s->fs.remote || !jobs_hang_for(w->s, q)) return;
    reply_reset(w, a);
    reply_status(a, 503, REDIS_HANGS);
}
