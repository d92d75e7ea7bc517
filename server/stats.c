/* stats.c - statistics: /stats and /f as JSON, /metrics for Prometheus. */
#include "output.h"
#include "resp.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int statuses[STATUSES] = { 200, 201, 400, 401, 403, 404, 408, 409, 413, 414, 415, 431,
    500, 503, 507, 0 };

void count_status(worker *w, int status, uint64_t n)
{
    size_t i = 0;
    while (statuses[i] && statuses[i] != status) i++;
    /* only this thread writes the counter, so an atomic addition is not needed */
    __atomic_store_n(&w->statuses[i], w->statuses[i] + n, __ATOMIC_RELAXED);
}

static uint64_t with_status(const server *s, size_t i)
{
    uint64_t n = 0;
    for (unsigned t = 0; t < s->o.threads; t++) n += counter_get(&s->workers[t].statuses[i]);
    return n;
}

uint64_t stats_requests(const server *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < STATUSES; i++) n += with_status(s, i);
    return n;
}

static uint64_t of_command(const server *s, size_t i)
{
    uint64_t n = 0;
    for (unsigned t = 0; t < s->o.threads; t++) n += counter_get(&s->workers[t].commands[i]);
    return n;
}

static uint64_t accepted(const server *s)
{
    uint64_t n = 0;
    for (unsigned t = 0; t < s->o.threads; t++) n += counter_get(&s->workers[t].accepted);
    return n;
}

static double uptime(const server *s) { return (double)(clock_ms() - s->started) / 1000; }

static double rate(worker *w)
{
    point points[HISTORY];
    double now;
    history_read(&w->s->history, points, &now);
    return now;
}

/* ---- JSON ---- */
typedef unsigned long long ull;

/* Writes the shortest decimal text, of 6 digits or more, that strtod() reads as the same number. */
static const char *shortest(char text[32], double v)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, v);
        if (strtod(text, NULL) == v) break;
    }
    return text;
}

/* Appends the filter's parameters as a JSON object without its closing brace. */
static bool print_info(buffer *b, served *f)
{
    bf_info i;
    char p[32];
    bf_get_info(f->f, &i);
    return buffer_print(b, "{\"m\":%llu,\"n\":%llu,\"k\":%u,\"p\":%s,\"scheme\":", (ull)i.m,
               (ull)i.n, i.k, shortest(p, i.p)) &&
           buffer_json(b, (text){ i.scheme, strlen(i.scheme) }) &&
           buffer_print(b, ",\"home\":\"%s\",\"bytes\":%llu,\"kind\":\"%s\",\"parts\":%u", i.home,
               (ull)i.bitset_bytes, kind_of(i.counting, i.grow, i.window), i.part_count) &&
           (!i.overfull || buffer_print(b, ",\"overfull\":\"%s\"", bf_overfull_name(i.overfull))) &&
           (i.grow == 0 || buffer_print(b, ",\"grow\":%s", shortest(p, i.grow))) &&
           (i.window == 0 || buffer_print(b, ",\"window\":%s", shortest(p, i.window)));
}

bool stats_info(served *f, reply *a)
{
    return print_info(&a->made, f) && buffer_add(&a->made, "}\n", 2);
}

static bool print_counts(buffer *b, served *f, const bf_state *st)
{
    return buffer_print(b, ",\"count\":%.0f,\"fill\":%.9g,\"fpr_now\":%.9g,\"saturated\":%s",
               st->count, st->fill, st->fpr, st->saturated ? "true" : "false") &&
           buffer_print(b, ",\"adds\":%llu,\"adds_new\":%llu,\"hits\":%llu,\"misses\":%llu",
               (ull)counter_get(&f->adds), (ull)counter_get(&f->added), (ull)counter_get(&f->hits),
               (ull)counter_get(&f->misses)) &&
           (!f->counts || buffer_print(b, ",\"removed\":%llu", (ull)counter_get(&f->removed)));
}

bool stats_json(worker *w, served *f, reply *a)
{
    bf_state st;
    bf_error err;
    const server *s = w->s;
    if (filter_state(f, &st, &err) < 0) {
        stored_hide_path(&w->s->fs, name_of(f), &err);
        reply_status(a, 503, err.msg);
        return false;
    }
    bool ok =
        print_info(&a->made, f) && print_counts(&a->made, f, &st) &&
        buffer_print(&a->made,
            ",\"name\":\"%s\",\"requests\":%llu,\"requests_per_second\":%.1f,\"connections\":%llu",
            f->name, (ull)stats_requests(s), rate(w), (ull)counter_get(&s->connections)) &&
        buffer_print(&a->made,
            ",\"log_lines_dropped\":%llu,\"uptime\":%.1f,\"threads\":%u,\"version\":\"%s\"}\n",
            (ull)output_dropped(), uptime(s), s->o.threads, bf_version());
    if (ok) reply_made(a, "application/json");
    return ok;
}

bool stats_filters(worker *w, reply *a)
{
    size_t count;
    served **all = filters_list(&w->s->fs, &count);
    bool ok = all && buffer_add(&a->made, "{", 1);
    for (size_t i = 0; ok && i < count; i++)
        ok = buffer_print(&a->made, "%s\"%s\":", i ? "," : "", all[i]->name) &&
             print_info(&a->made, all[i]) && buffer_add(&a->made, "}", 1);
    filters_list_free(all, count);
    ok = ok && buffer_add(&a->made, "}\n", 2);
    if (ok) reply_made(a, "application/json");
    return ok;
}

/* ---- Prometheus ---- */
enum {
    BYTES,
    N,
    K,
    P,
    PARTS,
    COUNT,
    FILL,
    FPR,
    SATURATED,
    UP,
    ADDS,
    ADDS_NEW,
    HITS,
    MISSES,
    REMOVED,
    METRICS
};
static const struct {
    const char *name, *type, *help;
} metrics[METRICS] = { [BYTES] = { "bytes", "gauge", "size of its bits or counters" },
    [N] = { "n", "gauge", "number of keys the filter is sized for" },
    [K] = { "k", "gauge", "positions per key" },
    [P] = { "p", "gauge", "false-positive rate at n keys" },
    [PARTS] = { "parts", "gauge", "number of its parts" },
    [COUNT] = { "keys", "gauge", "estimated number of different keys" },
    [FILL] = { "fill", "gauge", "fraction of the bits that are set" },
    [FPR] = { "fpr_now", "gauge", "false-positive rate now" },
    [SATURATED] = { "saturated", "gauge", "1 if more than half of the bits are set" },
    [UP] = { "up", "gauge", "1 if the filter answers requests" },
    [ADDS] = { "adds_total", "counter", "keys added" },
    [ADDS_NEW] = { "adds_new_total", "counter", "keys added that were new" },
    [HITS] = { "hits_total", "counter", "keys tested and present" },
    [MISSES] = { "misses_total", "counter", "keys tested and absent" },
    [REMOVED] = { "removed_total", "counter", "keys removed" } };

/* Opens files that were replaced, as requests do.  A filter whose new file is damaged stays in the
 * list, and filters_answers() is false for it. */
served **stats_list(const worker *w, size_t *count)
{
    filters *fs = &w->s->fs;
    bf_set_nowait(true);
    if (!fs->remote) filters_refresh(fs);
    bf_set_nowait(!w->may_block);
    return filters_list(fs, count);
}

bool stats_state(const worker *w, served *f, bf_state *st, bool *known)
{
    *known = false;
    if (f->remote && jobs_hang(w->s)) return false;
    bf_set_nowait(true);
    bool up = filters_answers(&w->s->fs, f);
    /* a merge or a clear holds the lock for writing */
    const bool locked = up && pthread_rwlock_tryrdlock(&f->use);
    if (locked)
        *known = filter_last_state(f, st);
    else if (up) {
        const int rc = filter_state(f, st, NULL);
        *known = rc >= 0;
        up = *known || rc == BF_EBUSY; /* another process has locked the file */
        pthread_rwlock_unlock(&f->use);
    }
    bf_set_nowait(!w->may_block);
    return up;
}

static void values(const worker *w, served *f, double *v)
{
    bf_state st = { 0 };
    bf_info i;
    bool known;
    bf_get_info(f->f, &i);
    const bool up = stats_state(w, f, &st, &known);
    double all[METRICS] = { (double)i.bitset_bytes, (double)i.n, i.k, i.p, i.part_count,
        known ? st.count : NAN, st.fill, st.fpr, st.saturated != 0, up,
        (double)counter_get(&f->adds), (double)counter_get(&f->added),
        (double)counter_get(&f->hits), (double)counter_get(&f->misses),
        (double)counter_get(&f->removed) };
    memcpy(v, all, sizeof all);
}

static bool head(buffer *b, const char *name, const char *type, const char *help)
{
    return buffer_print(
        b, "# HELP bloomfilter_%s %s\n# TYPE bloomfilter_%s %s\n", name, help, name, type);
}

/* Prints each metric for all filters.  v: METRICS values per filter. */
static bool print_filters(buffer *b, served *const *all, size_t count, const double *v)
{
    bool ok = true;
    for (int m = 0; ok && m < METRICS; m++) {
        ok = head(b, metrics[m].name, metrics[m].type, metrics[m].help);
        for (size_t i = 0; ok && i < count; i++) {
            const double *of = v + i * METRICS;
            if (isnan(of[COUNT]) && m >= COUNT && m < UP)
                continue; /* the state of this filter is not known */
            ok = buffer_print(
                b, "bloomfilter_%s{filter=\"%s\"} %.17g\n", metrics[m].name, all[i]->name, of[m]);
        }
    }
    return ok;
}

/* Prints kind, scheme and home as labels, because the format has no text values. */
static bool print_kinds(buffer *b, served *const *all, size_t count)
{
    bool ok = head(b, "info", "gauge", "what the filter is");
    for (size_t i = 0; ok && i < count; i++) {
        bf_info f;
        bf_get_info(all[i]->f, &f);
        ok = buffer_print(b,
            "bloomfilter_info{filter=\"%s\",kind=\"%s\",scheme=\"%s\",home=\"%s\"} 1\n",
            all[i]->name, kind_of(f.counting, f.grow, f.window), f.scheme, f.home);
    }
    return ok;
}

static bool of_filters(buffer *b, worker *w)
{
    size_t count;
    served **all = stats_list(w, &count);
    double *v = calloc(count + 1, METRICS * sizeof *v);
    bool ok = all && v;
    for (size_t i = 0; ok && i < count; i++) values(w, all[i], v + i * METRICS);
    ok = ok && print_kinds(b, all, count) && print_filters(b, all, count, v);
    free(v);
    filters_list_free(all, count);
    return ok;
}

static bool of_server(buffer *b, const server *s)
{
    const struct {
        const char *name, *type, *help;
        double value;
    } all[] = {
        { "connections", "gauge", "open connections", (double)counter_get(&s->connections) },
        { "connections_total", "counter", "connections accepted", (double)accepted(s) },
        { "buffered_bytes", "gauge", "bytes of bodies and of replies that wait for their clients",
            (double)counter_get(&s->buffered) },
        { "log_lines_dropped_total", "counter",
            "text lines of the access log and of standard error that could not be written",
            (double)output_dropped() },
        { "uptime_seconds", "gauge", "since the start", uptime(s) },
    };
    bool ok = head(b, "requests_total", "counter", "requests answered, by status");
    for (size_t i = 0; ok && statuses[i]; i++)
        ok = buffer_print(b, "bloomfilter_requests_total{code=\"%d\"} %llu\n", statuses[i],
            (ull)with_status(s, i));
    ok = ok && head(b, "commands_total", "counter", "commands of RESP answered, by command");
    for (size_t i = 0; ok && i < command_count; i++)
        ok = buffer_print(b, "bloomfilter_commands_total{command=\"%s\"} %llu\n", commands[i].name,
            (ull)of_command(s, i));
    for (size_t i = 0; ok && i < sizeof all / sizeof *all; i++)
        ok = head(b, all[i].name, all[i].type, all[i].help) &&
             buffer_print(b, "bloomfilter_%s %.15g\n", all[i].name, all[i].value);
    return ok;
}

bool stats_metrics(worker *w, reply *a)
{
    bool ok = of_filters(&a->made, w) && of_server(&a->made, w->s);
    if (ok) reply_made(a, "text/plain; version=0.0.4");
    return ok;
}
