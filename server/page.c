/* page.c - the status page: one HTML file.  Its script updates the page from /stats and from /. */
#include "parts/filter.h"
#include "server.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char before[] =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
    "<link rel=\"icon\" href=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAABlBMVEUAAAAAlohhH59BAAAAAXRSTlMAQObYZgAAAB5JREFUeNpjYGBgqD7AxMAAQQwMDAwVcihc5nvIXABTlALFK2chqAAAAABJRU5ErkJggg==\">"
    "<title>bloomfilterd</title><style>"
    ":root{color-scheme:light dark;--ink:#222;--soft:#5b6165;--line:#d8dbde;--paper:#fff;--good:#1a7f4b;--bad:#b3261e;--badpaper:#fdecea}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e2e3e4;--soft:#a3a9ad;--line:#43484c;--paper:#181a1b;--good:#5fd39a;--bad:#ff9d94;--badpaper:#3b1d1a}}"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:1.5rem auto;padding:0 1rem;color:var(--ink);background:var(--paper)}"
    "h1{font-size:1.3rem;font-weight:600;margin:0}h2{font-size:1rem;font-weight:600;margin:1.2rem 0 0}h1 small,.soft{font-weight:400;font-size:.9rem;color:var(--soft)}a{color:inherit}"
    "#alarm{border:1px solid var(--good);color:var(--good);border-radius:.4rem;padding:.5rem .8rem;margin:.8rem 0;font-weight:600;overflow-wrap:anywhere}#alarm a{display:inline-block;max-width:100%}"
    "#alarm.over{border-color:var(--bad);color:var(--bad);background:var(--badpaper)}"
    "dl{display:flex;flex-wrap:wrap;gap:.6rem;margin:.5rem 0 1rem}"
    "dl div{flex:1 1 min(13rem,40%);box-sizing:border-box;border:1px solid var(--line);border-radius:.4rem;padding:.4rem .7rem}dt{color:var(--soft);font-size:.85rem}"
    "dd{margin:0;white-space:nowrap;font-size:1.2rem;font-variant-numeric:tabular-nums}"
    "table{width:100%;border-collapse:collapse;font-size:.9rem;margin:1rem 0}th,td{text-align:right;padding:.25rem .5rem;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}"
    "th{color:var(--soft);font-weight:400;vertical-align:bottom}th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}td{white-space:nowrap}td:first-child{white-space:normal;min-width:16rem;overflow-wrap:anywhere}tr.over td{color:var(--bad);font-weight:600}"
    "@media(max-width:60rem){table,tr,td{display:block}tbody{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(20rem,100%),1fr));gap:.6rem}tr:first-child{display:none}tr{border:1px solid var(--line);border-radius:.4rem;padding:.3rem .2rem}"
    "td{border:0;display:flex;justify-content:space-between;gap:1rem;padding:.1rem .5rem;text-align:right}td:first-child{text-align:right;min-width:0}td::before{flex:none;content:attr(data-name);color:var(--soft);font-weight:400}td:first-child{font-weight:600}}"
    "svg{box-sizing:border-box;width:100%;max-width:52rem;height:auto;border:1px solid var(--line);border-radius:.4rem}svg text{font-size:12px;fill:var(--soft)}#note{color:var(--bad)}"
    "#line{fill:none;stroke:var(--good);stroke-width:2}.axis{fill:none;stroke:var(--soft)}#plan{stroke:var(--soft);stroke-dasharray:5 4}"
    "@media(max-width:40rem){svg text{font-size:24px}}"
    "</style>";

static const char script[] =
    "<script>\n"
    "const W=700,H=230,L=100,B=36;let turn=0;const points=JSON.parse(document.getElementById('points').textContent);\n"
    "const of=id=>document.getElementById(id),big=n=>Math.round(n).toLocaleString('en');\n"
    "const percent=x=>{const v=100*x;return v&&v<.001?'under 0.001 %':+v.toPrecision(3)+' %'};\n"
    "const units=[[86400,'d'],[3600,'h'],[60,'min'],[1,'s']];\n"
    "const span=s=>{const[u,n]=units.find(u=>s>=u[0])||units[3],rest=units[units.findIndex(x=>x[1]==n)+1],more=rest?Math.floor(s%u/rest[0]):0;return Math.floor(s/u)+' '+n+(more?' '+more+' '+rest[1]:'')};\n"
    "const steps=[10,30,60,300,900,1800,3600,7200,21600,43200,86400,172800,604800,1209600,2592000,7776000];\n"
    "function draw(){\n"
    " const known=points.filter(p=>p[1]>=0);if(!known.length)return;\n"
    " const plan=+of('plan').dataset.fill,z=known[known.length-1][0],a=Math.min(known[0][0],z-10),top=Math.min(1,Math.max(1e-9,plan,...known.map(p=>p[1]))*1.2);\n"
    " const x=t=>L+(W-L-12)*(t-a)/(z-a),y=f=>H-B-(H-B-10)*f/top;\n"
    " of('line').setAttribute('points',known.map(p=>x(p[0]).toFixed(1)+','+y(p[1]).toFixed(1)).join(' '));\n"
    " of('top').textContent=percent(top);\n"
    " if(plan){for(const i of[1,2])of('plan').setAttribute('y'+i,y(plan));of('planned').setAttribute('y',y(plan)-5);of('planned').textContent='planned fill '+percent(plan)}\n"
    " const most=W*of('line').ownerSVGElement.clientWidth/700<480?3:6,step=steps.find(s=>(z-a)/s<=most)||steps[steps.length-1];let marks='';\n"
    " for(let t=0;t<=z-a;t+=step)marks+='<path class=\"axis\" d=\"M'+x(z-t)+' '+(H-B)+'v5\"/><text x=\"'+(t?x(z-t):W-8)+'\" y=\"'+(H-B+23)+'\" text-anchor=\"'+(t?'middle':'end')+'\">'+(t?span(t)+' ago':'now')+'</text>';\n"
    " of('marks').innerHTML=marks;\n"
    "}\n"
    "async function ask(){\n"
    " try{\n"
    "  const r=await fetch('stats');if(!r.ok)throw r.status;const s=await r.json();\n"
    "  of('fill').textContent=percent(s.fill);of('fpr').textContent=percent(s.fpr_now);of('count').textContent=big(s.count);\n"
    "  of('hits').textContent=big(s.hits);of('misses').textContent=big(s.misses);of('uptime').textContent=span(s.uptime);\n"
    "  of('rate').textContent=big(s.requests_per_second);of('connections').textContent=big(s.connections);\n"
    "  of('requests').textContent=big(s.requests);of('note').textContent='';\n"
    "  if(++turn%5==0){\n"
    "   const d=await fetch('.');if(!d.ok)throw d.status;const page=new DOMParser().parseFromString(await d.text(),'text/html');\n"
    "   for(const id of['alarm','filters'])of(id).replaceWith(page.getElementById(id));\n"
    "  }\n"
    "  points.push([s.uptime,s.fill]);if(points.length>2000)points.splice(0,1000);draw();\n"
    " }catch(e){of('note').textContent='no reply: '+e}\n"
    " setTimeout(ask,2000);\n"
    "}\n"
    "draw();ask();\n"
    "</script></html>\n";

/* Appends a rate that was measured or estimated, with three digits. */
static bool percent(buffer *b, double v)
{
    if (v > 0 && v < 1e-5) return buffer_print(b, "under 0.001 %%");
    return buffer_print(b, "%.3g %%", 100 * v);
}

/* Appends a rate that was chosen: three digits, however small, without an exponent. */
static bool chosen(buffer *b, double v)
{
    char text[64];
    const int decimals = v > 0 && v < 1 ? (int)fmin(40, 2 - floor(log10(100 * v) + 1e-9)) : 0;
    int len = snprintf(text, sizeof text, "%.*f", decimals, 100 * v);
    while (decimals && text[len - 1] == '0') len--;
    return buffer_print(b, "%.*s %%", len - (text[len - 1] == '.'), text);
}

/* Appends 1234567 as 1,234,567. */
static bool grouped(buffer *b, uint64_t v)
{
    if (v < 1000) return buffer_print(b, "%u", (unsigned)v);
    return grouped(b, v / 1000) && buffer_print(b, ",%03u", (unsigned)(v % 1000));
}

static uint64_t whole(double v) { return (uint64_t)(v < 1e18 ? v + 0.5 : 1e18); }

static bool box(buffer *b, const char *name, const char *id, uint64_t v)
{
    return buffer_print(b, "<div><dt>%s<dd id=\"%s\">", name, id) && grouped(b, v) &&
           buffer_print(b, "</div>");
}

static bool rate_box(buffer *b, const char *name, const char *id, double v)
{
    return buffer_print(b, "<div><dt>%s<dd id=\"%s\">", name, id) && percent(b, v) &&
           buffer_print(b, "</div>");
}

static bool boxes_of_daemon(buffer *b, worker *w, double rate)
{
    return buffer_print(b, "<h2>The daemon</h2><dl>") &&
           box(b, "requests per second", "rate", whole(rate)) &&
           box(b, "requests", "requests", stats_requests(w->s)) &&
           box(b, "connections", "connections", counter_get(&w->s->connections)) &&
           buffer_print(b, "</dl>");
}

static bool boxes_of_filter(buffer *b, const served *f, const bf_state *st)
{
    return buffer_print(b, "<h2>Filter %s</h2><dl>", f->name) &&
           rate_box(b, "false positives now", "fpr", st->fpr) &&
           rate_box(b, "fill", "fill", st->fill) &&
           box(b, "keys (estimated)", "count", whole(st->count)) &&
           box(b, "hits", "hits", counter_get(&f->hits)) &&
           box(b, "misses", "misses", counter_get(&f->misses)) && buffer_print(b, "</dl>");
}

/* Returns the fill of the filter with n keys; 0 for a growing or forgetting filter. */
static double planned_fill(const served *f)
{
    const bf_params *d = &f->f->desc;
    if (bf_has_parts(d)) return 0;
    return bf_fill_of(d->scheme, f->f->secret, (double)d->g.m, (double)d->g.n, d->g.k);
}

static bool picture(buffer *b, const served *f)
{
    return buffer_print(b,
        "<svg viewBox=\"0 0 700 230\" role=\"img\" aria-label=\"fill over time\">"
        "<path class=\"axis\" d=\"M100 10V194H690\"/><line id=\"plan\" x1=\"100\" x2=\"690\" data-fill=\"%.9g\"/>"
        "<polyline id=\"line\"/><text id=\"planned\" x=\"106\"></text>"
        "<text x=\"94\" y=\"22\" text-anchor=\"end\" id=\"top\"></text><text x=\"94\" y=\"194\" text-anchor=\"end\">0</text>"
        "<text x=\"684\" y=\"24\" text-anchor=\"end\">fill of %s</text><g id=\"marks\"></g></svg><p id=\"note\"></p>",
        planned_fill(f), f->name);
}

static bool points_of(buffer *b, const point *points, size_t n)
{
    bool ok = buffer_print(b, "<script type=\"application/json\" id=\"points\">[");
    for (size_t i = 0; ok && i < n; i++)
        ok = buffer_print(b, "%s[%.1f,%.6g]", i ? "," : "", points[i].at, points[i].fill);
    return ok && buffer_print(b, "]</script>");
}

static bool cell(buffer *b, const char *name, uint64_t v)
{
    return buffer_print(b, "<td data-name=\"%s\">", name) && grouped(b, v);
}

static bool about(buffer *b, served *f)
{
    bf_info i;
    bf_get_info(f->f, &i);
    return buffer_print(b, "<p class=\"soft\">%s, m = ", kind_of(i.counting, i.grow, i.window)) &&
           grouped(b, i.m) && buffer_print(b, " %s, n = ", i.counting ? "counters" : "bits") &&
           grouped(b, i.n) && buffer_print(b, " keys, k = %u, p = ", i.k) && chosen(b, i.p) &&
           buffer_print(b, ", scheme %s, in %s, parts: %u</p>", i.scheme, i.home, i.part_count);
}

/* A filter that is overfull or does not reply: its parts of alarms.first and alarms.names. */
typedef struct {
    double excess; /* its rate divided by p */
    size_t row, row_end, name, name_end;
} alarm;

typedef struct {
    unsigned over, silent, all;
    alarm *list; /* over + silent of them */
    buffer names;
    buffer first, rest; /* rows of the table: of those filters, of the others */
} alarms;

enum { NAMED = 3 }; /* names in the red box */

/* Filters without a reply first, then the largest rates. */
static int worst_first(const void *one, const void *other)
{
    const alarm *a = one, *b = other;
    if (a->excess != b->excess) return a->excess > b->excess ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

/* Names of filters need no escaping in HTML.  mine: this page's filter, already locked. */
static bool row(worker *w, served *f, const served *mine, alarms *l)
{
    bf_info i;
    bf_state st = { 0 };
    bf_get_info(f->f, &i);
    bool known;
    const bool up = stats_state(w, f, &st, &known);
    const bool over = known && (st.saturated == BF_OVERFULL || st.fpr > 1.5 * i.p);
    l->all++;
    l->over += over;
    l->silent += !up;
    buffer *b = over || !up ? &l->first : &l->rest;
    alarm bad = { up ? st.fpr / i.p : INFINITY, l->first.len, 0, l->names.len, 0 };
    if ((over || !up) && !buffer_print(&l->names, "<a href=\"#f-%s\">%s</a>", f->name, f->name))
        return false;
    const char *kind = kind_of(i.counting, i.grow, i.window);
    bool ok = buffer_print(b,
        "<tr id=\"f-%s\"%s><td data-name=\"filter\"><a href=\"%s%s%sstats\">%s</a><td data-name=\"kind\">%s",
        f->name, over || !up ? " class=\"over\"" : "", f == mine ? "" : "f/",
        f == mine ? "" : f->name, f == mine ? "" : "/", f->name, kind);
    ok = ok && (i.part_count < 2 || buffer_print(b, ", %u parts", i.part_count));
    if (known)
        ok = ok && cell(b, "keys (estimated)", whole(st.count));
    else
        ok = ok && buffer_print(b, "<td data-name=\"keys (estimated)\">%s", up ? "" : "no reply");
    ok = ok && cell(b, "planned keys (n)", i.n);
    ok = ok && buffer_print(b, "<td data-name=\"fill\">") && (!known || percent(b, st.fill));
    ok = ok && buffer_print(b, "<td data-name=\"false positives now\">") &&
         (!known || percent(b, st.fpr));
    ok = ok && buffer_print(b, "<td data-name=\"false positives planned (p)\">") && chosen(b, i.p);
    ok = ok && cell(b, "hits", counter_get(&f->hits)) && cell(b, "misses", counter_get(&f->misses));
    bad.row_end = l->first.len, bad.name_end = l->names.len;
    if (over || !up) l->list[l->over + l->silent - 1] = bad;
    return ok;
}

static bool rows_of(worker *w, const served *mine, alarms *l)
{
    size_t count;
    served **all = stats_list(w, &count);
    l->list = calloc(count + 1, sizeof *l->list);
    bool ok = all && l->list;
    for (size_t i = 0; ok && i < count; i++) ok = row(w, all[i], mine, l);
    if (all) filters_list_free(all, count);
    if (ok) qsort(l->list, l->over + l->silent, sizeof *l->list, worst_first);
    return ok;
}

static bool table(buffer *b, const alarms *l)
{
    bool ok = buffer_print(b,
        "<h2>All filters</h2><table id=\"filters\"><tr><th>filter<th>kind<th>keys (estimated)<th>planned keys (n)"
        "<th>fill<th>false positives now<th>false positives planned (p)<th>hits<th>misses");
    for (unsigned i = 0; ok && i < l->over + l->silent; i++)
        ok = buffer_add(b, l->first.ptr + l->list[i].row, l->list[i].row_end - l->list[i].row);
    ok = ok && (!l->rest.len || buffer_add(b, l->rest.ptr, l->rest.len));
    return ok && buffer_print(b, "</table>");
}

static bool alarm_of(buffer *b, const alarms *l)
{
    const char *over = l->over == 1 ? "filter" : "filters";
    const unsigned bad = l->over + l->silent;
    bool ok = buffer_print(b, "<p id=\"alarm\"%s>", bad ? " class=\"over\"" : "");
    if (l->over) ok = ok && buffer_print(b, "%u %s over capacity", l->over, over);
    if (l->silent) ok = ok && buffer_print(b, "%s%u without reply", l->over ? ", " : "", l->silent);
    if (!bad)
        return ok && buffer_print(b, "%u %s, none over capacity</p>", l->all,
                         l->all == 1 ? "filter" : "filters");
    for (unsigned i = 0; ok && i < bad && i < NAMED; i++) {
        const alarm *a = &l->list[i];
        ok = buffer_print(
            b, "%s%.*s", i ? ", " : ": ", (int)(a->name_end - a->name), l->names.ptr + a->name);
    }
    if (bad > NAMED)
        ok = ok && buffer_print(b, " <a href=\"#filters\">and %u more</a>", bad - NAMED);
    return ok && buffer_print(b, "</p>");
}

static bool head(buffer *b, const server *s)
{
    const uint64_t up = (clock_ms() - s->started) / 1000;
    return buffer_print(b,
        "<h1>bloomfilterd <small>%s, up <span id=\"uptime\">%llu s</span></small></h1>"
        "<p class=\"soft\"><a href=\"metrics\">metrics</a> &middot; <a href=\"f\">filters (JSON)</a> &middot; <a href=\"stats\">statistics (JSON)</a></p>",
        bf_version(), (unsigned long long)up);
}

bool page(worker *w, served *f, reply *a)
{
    point points[HISTORY];
    bf_state st;
    bf_error err;
    double rate;
    alarms l = { 0 };
    buffer *b = &a->made;
    size_t n = history_read(&w->s->history, points, &rate);
    if (filter_state(f, &st, &err) < 0) {
        stored_hide_path(&w->s->fs, name_of(f), &err);
        reply_status(a, 503, err.msg);
        return false;
    }
    bool ok = rows_of(w, f, &l) && buffer_add(b, before, sizeof before - 1) && alarm_of(b, &l) &&
              head(b, w->s) && boxes_of_daemon(b, w, rate) && boxes_of_filter(b, f, &st) &&
              picture(b, f) && about(b, f) && table(b, &l) && points_of(b, points, n) &&
              buffer_add(b, script, sizeof script - 1);
    free(l.list);
    buffer_drop(&l.first);
    buffer_drop(&l.rest);
    buffer_drop(&l.names);
    strcpy(a->more,
        "Content-Security-Policy: default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'\r\n");
    if (ok) reply_made(a, "text/html; charset=utf-8");
    return ok;
}
