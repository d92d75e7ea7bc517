/* filter_commands.c - the commands of RESP that are about filters.  Arguments, defaults and errors
 * are those of RedisBloom.  key_ops.c and filter_admin.c do the work, as for HTTP. */
#include "resp.h"
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>

/* ---- creating ---- */
enum { ERROR, CAPACITY, EXPANSION, WINDOW, NUMBERS };
/* Parameters of a filter that a command creates. */
typedef struct {
    double number[NUMBERS];
    bool given[NUMBERS], fixed, counting, nocreate;
} creation;

static creation defaults(void) { return (creation){ .number = { 0.01, 100, 2, 0 } }; }

/* Creates the filter.  Returns true if it exists now.  fresh: it must not have existed.  A filter
 * that exists stays as it is, also with the parameters of `new`. */
static bool create(worker *w, text name, const creation *new, bool fresh, reply *a)
{
    bf_error err;
    served *f = NULL;
    const bool grows = !new->fixed && !new->given[WINDOW];
    bf_spec spec = { .n = (uint64_t)new->number[CAPACITY],
        .p = new->number[ERROR],
        .grow = grows ? new->number[EXPANSION] : 0,
        .window = new->number[WINDOW],
        .counting = new->counting };
    int rc = filters_put(&w->s->fs, name, &spec, &f, &err);
    if (rc > 0 && new->fixed) filters_set_overfull(f, BF_OVERFULL_RAISE);
    if (rc >= 0) filters_release(f);
    if (rc > 0 || (!fresh && (rc == 0 || rc == BF_EMISMATCH))) return true;
    if (rc == 0 || rc == BF_EMISMATCH) rc = stored_fail(&err, FILTER_EXISTS, "item exists");
    a->encoded = false;
    reply_conflict(w, name, a, rc, &err);
    return false;
}

/* bad: how the error begins. */
static bool read_number(arguments *x, int which, const char *bad, creation *new, reply *a)
{
    static const char *const names[] = { "error rate", "capacity", "expansion", "window" };
    double v = 0;
    text t = next_argument(x);
    const bool minus = t.len && t.ptr[0] == '-', whole = which == CAPACITY || which == EXPANSION;
    const bool ok =
        parse_number(minus ? text_after(t, 1) : t, &v) && v < 0x1p63 && (!whole || v == floor(v));
    new->number[which] = minus ? -v : v;
    new->given[which] = true;
    if (!ok) put_error(a, 400, "%s %s", bad, names[which]);
    return ok;
}

/* Reads options, those of BF.INSERT up to ITEMS.  Returns false after an error. */
static bool read_options(const request *q, arguments *x, bool insert, creation *new, reply *a)
{
    static const struct {
        const char *word;
        bool insert, reserve;
    } words[] = { [ERROR] = { "error", true, false },
        [CAPACITY] = { "capacity", true, false },
        [EXPANSION] = { "expansion", true, true },
        [WINDOW] = { "window", false, true } };
    while (x->left) {
        const text option = next_argument(x);
        int i = 0;
        if (insert && is_word(option, "items")) break;
        if (is_word(option, "nonscaling"))
            new->fixed = true;
        else if (insert && is_word(option, "nocreate"))
            new->nocreate = true;
        else if (!insert && is_word(option, "counting"))
            new->counting = true;
        else {
            while (i < NUMBERS && !((insert ? words[i].insert : words[i].reserve) &&
                                      is_word(option, words[i].word)))
                i++;
            if (i == NUMBERS) put_error(a, 400, "Unknown argument received");
            if (i < NUMBERS && !x->left && !insert) put_error(a, 400, "ERR no %s", words[i].word);
            if (i < NUMBERS && !x->left && insert) wrong_arity(q, a);
            if (a->status != 200 || !read_number(x, i, insert ? "Bad" : "ERR bad", new, a))
                return false;
        }
    }
    return true;
}

/* Reads the arguments of BF.RESERVE after the key. */
static bool read_reserve(const request *q, arguments *x, creation *new, reply *a)
{
    const double *v = new->number;
    const char *why = NULL;
    if (!read_number(x, ERROR, "ERR bad", new, a)) return false;
    if (v[ERROR] <= 0 || v[ERROR] >= 1)
        why = "ERR (0 < error rate range < 1) ";
    else if (!read_number(x, CAPACITY, "ERR bad", new, a))
        return false;
    else if (v[CAPACITY] <= 0)
        why = "ERR (capacity should be larger than 0)";
    else if (!read_options(q, x, false, new, a))
        return false;
    else if (v[EXPANSION] < 1)
        why = "ERR expansion should be greater or equal to 1";
    else if (new->fixed &&new->given[EXPANSION])
        why = "Nonscaling filters cannot expand";
    else if (new->given[WINDOW] && new->given[EXPANSION])
        why = "ERR filters with a WINDOW cannot expand";
    else if (new->given[WINDOW] && v[WINDOW] <= 0)
        why = "ERR (window should be larger than 0)";
    if (why) put_error(a, 400, "%s", why);
    return !why;
}

void bf_reserve_command(worker *w, const request *q, arguments *x, reply *a)
{
    creation new = defaults();
    const text name = next_argument(x);
    if (read_reserve(q, x, &new, a) && create(w, name, &new, true, a)) put_status(a, "OK");
}

/* ---- keys ---- */
/* Calls the core for keys that are the arguments left, or the last arguments of gathered commands.
 * If no filter has this name: creates `new`; without `new` the answers of tests are 0. */
static void with_keys(
    worker *w, const request *q, arguments *x, text name, const creation *new, reply *a)
{
    call c = {
        .verb = verb_of(q->command->flags), .form = KEYS_COMMANDS, .body = x->rest, .count = x->left
    };
    if (q->commands > 1) {
        c.body = q->body;
        c.count = q->commands;
        c.prefix = q->prefix;
    }
    a->status = 0;
    a->encoded = false;
    with_filter(w, name, key_batch_on, &c, a);
    if (a->code != FILTER_GONE || (!new && c.verb != VERB_TEST)) return;
    reply_reset(w, a);
    if (new && create(w, name, new, false, a))
        with_filter(w, name, key_batch_on, &c, a);
    else if (!new && !buffer_reserve(&a->made, c.count))
        reply_status(a, 503, NULL);
    else if (!new) {
        memset(a->made.ptr, '0', a->made.len = c.count);
        a->status = 200;
    }
}

/* Encodes the answers.  A filter that is full answers the keys before the first refused one. */
static void put_many(const request *q, reply *a)
{
    static const char last[] = "-ERR non scaling filter is full\r\n";
    const verb v = verb_of(q->command->flags);
    const bool array = q->command->flags & ARRAY, full = array && a->code == BF_EFULL;
    char head[32];
    if (a->defer) return;
    if (!full && a->status == 200) put_answers(q, a, v, array);
    if (!full) return;
    const size_t len = (size_t)sprintf(head, "*%zu\r\n", a->answers.len + 1);
    take_answers(a);
    put_answers(q, a, v, false);
    a->ends |= !buffer_reserve(&a->made, sizeof last + len);
    if (a->ends) return;
    memmove(a->made.ptr + len, a->made.ptr, a->made.len);
    memcpy(a->made.ptr, head, len);
    memcpy(a->made.ptr + len + a->made.len, last, sizeof last - 1);
    a->made.len += len + sizeof last - 1;
}

/* Answers gathered commands one by one after an error, because a job cannot leave them to a later
 * call, as resp.c does. */
static void each_alone(worker *w, const request *q, text name, const creation *new, reply *a)
{
    request one = *q;
    text rest = q->body;
    buffer all = { 0 };
    bf_key key;
    keep_answers(&one, a);
    bool ok = buffer_add(&all, a->made.ptr, a->made.len);
    for (size_t i = 0; i < one.commands; i++) keys_next_bulk(q->prefix, &rest, &key, 1);
    one.commands = 1;
    while (ok && rest.len) {
        arguments x = { text_after(rest, q->prefix), 1 };
        keys_next_bulk(q->prefix, &rest, &key, 1);
        x.rest.len -= rest.len;
        reply_reset(w, a);
        with_keys(w, &one, &x, name, new, a);
        if (a->status == 200)
            put_answers(&one, a, verb_of(q->command->flags), false);
        else
            put_refusal(a);
        ok = buffer_add(&all, a->made.ptr, a->made.len);
    }
    reply_reset(w, a);
    *a = (reply){ .status = 200, .made = all, .encoded = true, .ends = !ok };
}

/* The keys are the arguments that are left.  new: see with_keys(). */
static void answer_keys(
    worker *w, const request *q, arguments *x, text name, const creation *new, reply *a)
{
    with_keys(w, q, x, name, new, a);
    if (q->commands > 1 && a->status != 200 && w->may_block && !w->missing && !w->current_conn)
        each_alone(w, q, name, new, a);
    else
        put_many(q, a);
}

void bf_keys_command(worker *w, const request *q, arguments *x, reply *a)
{
    const creation new = defaults();
    const text name = next_argument(x);
    answer_keys(w, q, x, name, verb_of(q->command->flags) == VERB_ADD ? &new : NULL, a);
}

void bf_insert_command(worker *w, const request *q, arguments *x, reply *a)
{
    creation new = defaults();
    const text name = next_argument(x);
    if (!read_options(q, x, true, &new, a)) return;
    if (!x->left)
        wrong_arity(q, a);
    else if (new.number[ERROR] <= 0 || new.number[ERROR] >= 1 || new.number[CAPACITY] < 1 ||
             new.number[EXPANSION] < 1)
        put_error(a, 400, "Bad argument received");
    else
        answer_keys(w, q, x, name, new.nocreate ? NULL : &new, a);
}

/* ---- what is in a filter ---- */
typedef struct {
    uint64_t capacity, size, filters, items;
    double expansion; /* 0: does not grow */
} measures;

/* In a growing filter the parts have counted their keys; otherwise the number is estimated. */
static int measure(served *f, measures *m, bf_error *err)
{
    bf_info i;
    bf_state st;
    bf_part_info part;
    int rc = 0;
    bf_get_info(f->f, &i);
    *m = (measures){
        .capacity = i.n, .size = i.bitset_bytes, .filters = i.part_count, .expansion = i.grow
    };
    if (i.grow == 0) {
        rc = bf_get_state(f->f, &st, err);
        m->items = rc < 0 || isinf(st.count) ? 0 : (uint64_t)llround(st.count);
        return rc;
    }
    for (unsigned p = m->capacity = 0; rc >= 0 && p < i.part_count; p++) {
        if ((rc = bf_get_part(f->f, p, &part, err)) < 0) return rc;
        m->capacity += part.n;
        m->items += part.keys;
    }
    return rc;
}

static void measure_on(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    measures m;
    (void)c;
    const int rc = measure(f, &m, &err);
    if (rc < 0) {
        reply_filter_error(w, f, a, rc, &err);
        return;
    }
    a->status = buffer_add(&a->made, &m, sizeof m) ? 200 : 0;
    if (!a->status) reply_status(a, 503, NULL);
}

/* Returns false if the reply is an error, or no filter has this name. */
static bool measured(worker *w, text name, measures *m, reply *a)
{
    a->status = 0;
    a->encoded = false;
    with_filter(w, name, measure_on, &(call){ .verb = VERB_TEST }, a);
    if (a->status != 200) return false;
    memcpy(m, a->made.ptr, sizeof *m);
    a->made.len = 0;
    a->encoded = true;
    return true;
}

void bf_card_command(worker *w, const request *q, arguments *x, reply *a)
{
    measures m = { 0 };
    (void)q;
    const bool found = measured(w, next_argument(x), &m, a);
    if (!found && a->code != FILTER_GONE) return;
    if (!found) reply_reset(w, a);
    a->status = 200;
    a->encoded = true;
    put_integer(a, (int64_t)m.items);
}

/* Puts number i of the fields of BF.INFO. */
static void put_field(const request *q, const measures *m, size_t i, reply *a)
{
    const uint64_t numbers[] = { m->capacity, m->size, m->filters, m->items };
    char decimal[32];
    if (i < 4)
        put_integer(a, (int64_t)numbers[i]);
    else if (m->expansion == 0)
        put_null(q, a);
    else if (m->expansion == floor(m->expansion))
        put_integer(a, (int64_t)m->expansion);
    else {
        snprintf(decimal, sizeof decimal, "%.6g", m->expansion);
        put_words(a, decimal);
    }
}

void bf_info_command(worker *w, const request *q, arguments *x, reply *a)
{
    static const char *const words[] = { "capacity", "size", "filters", "items", "expansion" };
    static const char *const names[] = { "Capacity", "Size", "Number of filters",
        "Number of items inserted", "Expansion rate" };
    enum { FIELDS = 5 };
    measures m;
    size_t i = 0;
    const text name = next_argument(x);
    const bool one = x->left == 1;
    const text field = next_argument(x);
    if (x->left) {
        wrong_arity(q, a);
        return;
    }
    while (one && i < FIELDS && !is_word(field, words[i])) i++;
    if (one && i == FIELDS) {
        put_error(a, 400, "Invalid information value");
        return;
    }
    if (!measured(w, name, &m, a)) return;
    if (one && q->resp == 2)
        put_array(a, 1);
    else
        put_map(q, a, one ? 1 : FIELDS);
    for (size_t at = one ? i : 0, end = one ? i + 1 : FIELDS; at < end; at++) {
        if (!one || q->resp == 3) put_status(a, names[at]);
        put_field(q, &m, at, a);
    }
}

/* ---- complete filters ---- */
/* Adds one source to the destination, or copies it if there is no destination yet. */
static bool merge_one(worker *w, text destination, text source, reply *a)
{
    bf_error err;
    served *f = NULL;
    a->status = 0;
    a->encoded = false;
    filter_image(w, source, TEXT(""), &(request){ 0 }, a);
    if (a->status != 200) return false;
    int rc = filters_merge(&w->s->fs, destination, a->body, &err);
    if (rc == FILTER_GONE) {
        rc = filters_upload(&w->s->fs, destination, a->body, &f, &err);
        if (rc >= 0) filters_release(f);
    }
    reply_reset(w, a);
    if (rc < 0) reply_conflict(w, destination, a, rc, &err);
    return rc >= 0;
}

void bf_merge_command(worker *w, const request *q, arguments *x, reply *a)
{
    const text destination = next_argument(x);
    const uint64_t most = w->s->o.max_filters + 1; /* and "default" */
    (void)q;
    if (x->left > most) {
        put_error(a, 400, "ERR BF.MERGE takes at most %llu sources, got %zu",
            (unsigned long long)most, x->left);
        return;
    }
    while (x->left)
        if (!merge_one(w, destination, next_argument(x), a)) return;
    a->status = 200;
    a->encoded = true;
    put_status(a, "OK");
}

bool filter_exists(worker *w, text name, reply *a)
{
    bf_error err;
    served *f = filters_get(&w->s->fs, name, &err);
    if (f) filters_release(f);
    if (!f && err.code != FILTER_GONE) {
        a->encoded = false;
        reply_error(w, name, a, err.code, &err);
    }
    return f != NULL;
}

void exists_command(worker *w, const request *q, arguments *x, reply *a)
{
    int64_t n = 0;
    (void)q;
    while (x->left && a->status == 200) n += filter_exists(w, next_argument(x), a);
    if (a->status == 200) put_integer(a, n);
}

void type_command(worker *w, const request *q, arguments *x, reply *a)
{
    (void)q;
    const bool found = filter_exists(w, next_argument(x), a);
    if (a->status == 200) put_status(a, found ? "MBbloom--" : "none");
}

void del_command(worker *w, const request *q, arguments *x, reply *a)
{
    bf_error err;
    int64_t n = 0;
    (void)q;
    while (x->left) {
        const text name = next_argument(x);
        const int rc = filters_drop(&w->s->fs, name, &err);
        n += rc >= 0;
        if (rc >= 0 || rc == FILTER_GONE) continue;
        a->encoded = false;
        reply_conflict(w, name, a, rc, &err);
        return;
    }
    put_integer(a, n);
}

/* The names that match the pattern.  None is longer than NAME_BYTES, so no longer pattern is of
 * use.
 */
static void put_names(worker *w, text given, reply *a)
{
    char pattern[2 * NAME_BYTES];
    size_t count, n = 0;
    served **all = filters_list(&w->s->fs, &count);
    snprintf(pattern, sizeof pattern, "%.*s",
        (int)(given.len < NAME_BYTES ? given.len : NAME_BYTES), given.ptr);
    for (size_t i = 0; i < count; i++) n += fnmatch(pattern, all[i]->name, 0) == 0;
    put_array(a, n);
    for (size_t i = 0; i < count; i++)
        if (fnmatch(pattern, all[i]->name, 0) == 0) put_text(a, name_of(all[i]));
    filters_list_free(all, count);
}

void keys_command(worker *w, const request *q, arguments *x, reply *a)
{
    (void)q;
    put_names(w, next_argument(x), a);
}

void scan_command(worker *w, const request *q, arguments *x, reply *a)
{
    double cursor;
    text pattern = TEXT("*");
    bool other = false;
    (void)q;
    if (!parse_number(next_argument(x), &cursor)) {
        put_error(a, 400, "ERR invalid cursor");
        return;
    }
    while (x->left) {
        const text option = next_argument(x);
        const bool match = is_word(option, "match"), type = is_word(option, "type");
        if (!x->left || !(match || type || is_word(option, "count"))) {
            put_error(a, 400, "ERR syntax error");
            return;
        }
        const text value = next_argument(x);
        if (match) pattern = value;
        other |= type && !is_word(value, "mbbloom--");
    }
    put_array(a, 2);
    put_words(a, "0");
    if (other)
        put_array(a, 0);
    else
        put_names(w, pattern, a);
}

void dbsize_command(worker *w, const request *q, arguments *x, reply *a)
{
    size_t count;
    served **all = filters_list(&w->s->fs, &count);
    (void)q, (void)x;
    filters_list_free(all, count);
    put_integer(a, (int64_t)count);
}
