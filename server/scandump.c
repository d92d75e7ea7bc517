/* scandump.c - BF.SCANDUMP and BF.LOADCHUNK, which move filters in pieces.  The bytes of format
 * redisbloom are the header (the piece of iterator 1) and the bits.  A filter that is being loaded
 * is in server.loads until its last piece has come; the pieces are counted in --max-buffered. */
#include "resp.h"
#include <stdlib.h>

typedef struct load {
    struct load *next;
    char name[NAME_BYTES + 1];
    buffer bytes;
    uint64_t len;    /* of the complete filter */
    size_t head;     /* bytes of the header */
    uint64_t active; /* ms: when the last piece came */
} load;

static void free_load(server *s, load *l)
{
    if (!l) return;
    __atomic_fetch_sub(&s->buffered, l->bytes.len, __ATOMIC_RELAXED);
    buffer_drop(&l->bytes);
    free(l);
}

/* Takes the load of this name out of the list, so that no other thread uses it. */
static load *take_load(server *s, text name)
{
    pthread_mutex_lock(&s->loading);
    load **at = &s->loads;
    while (*at && !text_is(name, (text){ (*at)->name, strlen((*at)->name) })) at = &(*at)->next;
    load *l = *at;
    if (l) *at = l->next;
    pthread_mutex_unlock(&s->loading);
    return l;
}

static void keep_load(server *s, load *l)
{
    l->active = clock_ms();
    pthread_mutex_lock(&s->loading);
    l->next = s->loads;
    s->loads = l;
    pthread_mutex_unlock(&s->loading);
}

static size_t load_count(server *s)
{
    size_t n = 0;
    pthread_mutex_lock(&s->loading);
    for (const load *l = s->loads; l; l = l->next) n++;
    pthread_mutex_unlock(&s->loading);
    return n;
}

void loads_expire(server *s, bool all)
{
    pthread_mutex_lock(&s->loading);
    for (load **at = &s->loads, *l; (l = *at);) {
        if (!all && clock_ms() - l->active < s->o.deadline * 1000) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        free_load(s, l);
    }
    pthread_mutex_unlock(&s->loading);
}

/* Appends a piece, which is counted from now on: a header alone promises any length.  Returns false
 * after an error. */
static bool add_piece(worker *w, load *l, text piece, reply *a)
{
    const bool fits = budget_reserve(w, piece.len);
    if (fits && buffer_add(&l->bytes, piece.ptr, piece.len)) return true;
    if (fits) budget_release(w, piece.len);
    put_error(a, fits ? 507 : 503, fits ? "ERR out of memory" : "ERR " BUDGET_FULL);
    return false;
}

/* Begins a load with its header.  Returns NULL after an error. */
static load *begin_load(worker *w, text name, text header, reply *a)
{
    bf_error err;
    if (filter_exists(w, name, a)) put_error(a, 409, "ERR item exists");
    if (a->status != 200) return NULL;
    const int64_t len = bf_redisbloom_length(header.ptr, header.len, &err);
    if (len < 0 || (uint64_t)len > w->s->o.max_filter) {
        put_error(a, len < 0 ? 400 : 507, "ERR %s",
            len < 0 ? err.msg : "the filter is larger than --max-filter allows");
        return NULL;
    }
    if (load_count(w->s) >= w->s->o.max_filters) {
        put_error(a, 507,
            "ERR there are %llu filters of which BF.LOADCHUNK has only a part, as many as "
            "--max-filters allows",
            (unsigned long long)w->s->o.max_filters);
        return NULL;
    }
    load *l = calloc(1, sizeof *l);
    if (l) {
        memcpy(l->name, name.ptr, name.len);
        l->len = (uint64_t)len;
        l->head = header.len;
    } else
        put_error(a, 507, "ERR out of memory");
    if (!l || add_piece(w, l, header, a)) return l;
    free_load(w->s, l);
    return NULL;
}

/* Creates the filter of the complete bytes. */
static void finish_load(worker *w, text name, load *l, reply *a)
{
    bf_error err;
    served *f = NULL;
    bf_spec spec = { 0 };
    bf_filter *from = bf_from_bytes_as(
        l->bytes.ptr, l->bytes.len, "redisbloom", stored_spec(&spec, &w->s->o), &err);
    if (!from) {
        put_error(a, 400, "ERR %s", err.msg);
        return;
    }
    bf_set_threads(from, true);
    const int rc = filters_add(&w->s->fs, name, from, l->len, &f, &err);
    if (rc >= 0) filters_release(f);
    if (rc >= 0) return;
    a->encoded = false;
    reply_conflict(w, name, a, rc, &err);
}

void bf_loadchunk_command(worker *w, const request *q, arguments *x, reply *a)
{
    const text name = next_argument(x), iterator = next_argument(x), data = next_argument(x);
    uint64_t at;
    (void)q;
    if (!parse_whole(iterator, 1000, &at)) {
        put_error(a, 400, "ERR Second argument must be numeric");
        return;
    }
    load *l = take_load(w->s, name);
    if (at == 1) {
        free_load(w->s, l);
        if (!(l = begin_load(w, name, data, a))) return;
    } else if (!l || data.len > l->len - l->bytes.len ||
               at != l->bytes.len + data.len - l->head + 1) {
        put_error(a, 400, "ERR received bad data");
        if (l) keep_load(w->s, l);
        return;
    } else if (!add_piece(w, l, data, a)) {
        keep_load(w->s, l);
        return;
    }
    if (l->bytes.len < l->len) {
        keep_load(w->s, l);
        put_status(a, "OK");
        return;
    }
    finish_load(w, name, l, a);
    free_load(w->s, l);
    if (a->status == 200) put_status(a, "OK");
}

/* a->made gets the piece of iterator c->count. */
static void dump_on(worker *w, served *f, const call *c, reply *a)
{
    bf_error err;
    int64_t len = bf_redisbloom_dump(f->f, c->count, NULL, 0, &err);
    if (len > 0 && !image_fits(w, (uint64_t)len, a)) return;
    const size_t cap = len > 0 ? (size_t)len : 0;
    if (len > 0) len = bf_redisbloom_dump(f->f, c->count, a->made.ptr, cap, &err);
    if (len < 0) {
        reply_filter_error(w, f, a, (int)len, &err);
        return;
    }
    a->made.len = (size_t)len;
    a->status = 200;
    if ((size_t)len != cap) reply_status(a, 503, "the filter has grown meanwhile");
}

void bf_scandump_command(worker *w, const request *q, arguments *x, reply *a)
{
    const text name = next_argument(x);
    uint64_t at;
    (void)q;
    if (!parse_whole(next_argument(x), 1000, &at)) {
        put_error(a, 400, "Second argument must be numeric");
        return;
    }
    a->status = 0;
    a->encoded = false;
    with_filter(w, name, dump_on, &(call){ .count = at }, a);
    if (a->status != 200) return;
    buffer piece = a->made;
    a->made = (buffer){ 0 };
    a->encoded = true;
    put_array(a, 2);
    put_integer(a, !piece.len ? 0 : at == 0 ? 1 : (int64_t)(at + piece.len));
    put_text(a, piece.len ? (text){ piece.ptr, piece.len } : TEXT(""));
    buffer_drop(&piece);
}
