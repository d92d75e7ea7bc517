/* page.c - the status page: one HTML file.  Its script updates the page from /stats and from /. */
#include "parts/filter.h"
#include "server.h"

static const char before[] =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
    "<link rel=\"icon\" href=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAABlBMVEUAAAAAlohhH59BAAAAAXRSTlMAQObYZgAAAB5JREFUeNpjYGBgqD7AxMAAQQwMDAwVcihc5nvIXABTlALFK2chqAAAAABJRU5ErkJggg==\">"
    "<title>bloomfilterd</title><style>"
    ":root{color-scheme:light dark;--ink:#222;--soft:#5b6165;--line:#d8dbde;--paper:#fff;--good:#1a7f4b;--bad:#b3261e;--badpaper:#fdecea}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e2e3e4;--soft:#a3a9ad;--line:#43484c;--paper:#181a1b;--good:#5fd39a;--bad:#ff9d94;--badpaper:#3b1d1a}}"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:1.5rem auto;padding:0 1rem;color:var(--ink);background:var(--paper)}"
    "h1{font-size:1.3rem;font-weight:600;margin:0}h1 small,.soft{font-weight:400;font-size:.9rem;color:var(--soft)}a{color:inherit}"
    "#alarm{border:1px solid var(--good);color:var(--good);border-radius:.4rem;padding:.5rem .8rem;margin:.8rem 0;font-weight:600;overflow-wrap:anywhere}"
    "#alarm.over{border-color:var(--bad);color:var(--bad);background:var(--badpaper)}"
    "dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(13rem,44%),1fr));gap:.6rem;margin:1rem 0}"
    "dl div{border:1px solid var(--line);border-radius:.4rem;padding:.4rem .7rem}dt{color:var(--soft);font-size:.85rem}"
    "dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}"
    "table{width:100%;border-collapse:collapse;font-size:.9rem;margin:1rem 0}th,td{text-align:right;padding:.25rem .5rem;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}"
    "th{color:var(--soft);font-weight:400;vertical-align:bottom}th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}td{white-space:nowrap}td:first-child{white-space:normal;overflow-wrap:anywhere}tr.over td{color:var(--bad);font-weight:600}"
    "@media(max-width:48rem){table,tbody,tr,td{display:block}tr:first-child{display:none}tr{border:1px solid var(--line);border-radius:.4rem;margin:.6rem 0;padding:.3rem .2rem}"
    "td{border:0;display:flex;justify-content:space-between;gap:1rem;padding:.1rem .5rem}td::before{flex:none;content:attr(data-name);color:var(--soft);font-weight:400}td:first-child{font-weight:600}}"
    "svg{box-sizing:border-box;width:100%;height:auto;border:1px solid var(--line);border-radius:.4rem}svg text{font-size:12px;fill:var(--soft)}#note{color:var(--bad)}"
    "#line{fill:none;stroke:var(--good);stroke-width:2}.axis{fill:none;stroke:var(--soft)}#plan{stroke:var(--soft);stroke-dasharray:5 4}"
    "@media(max-width:40rem){svg text{font-size:20px}}"
    "</style>";

static const char script[] =
    "<script>\n"
    "const W=700,H=230,L=100,B=36;let turn=0;const points=JSON.parse(document.getElementById('points').textContent);\n"
    "const of=id=>document.getElementById(id),big=n=>Math.round(n).toLocaleString('en');\n"
    "const percent=x=>{const v=100*x;return(v&&v<1e-4?v.toExponential(2).replace(/\\.?0+e/,'e'):+v.toPrecision(3))+' %'};\n"
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

static bool box(buffer *b, const char *name, const char *id, const char *format, double v)
{
    return buffer_print(b, "<div><dt>%s<dd id=\"%s\">", name, id) && buffer_print(b, format, v) &&
           buffer_print(b, "</div>");
}

static bool boxes(buffer *b, worker *w, const served *f, const bf_state *st, double rate)
{
    return buffer_print(b, "<dl>") &&
           box(b, "false positives now", "fpr", "%.3g %%", 100 * st->fpr) &&
           box(b, "fill", "fill", "%.3g %%", 100 * st->fill) &&
           box(b, "keys (estimated)", "count", "%.0f", st->count) &&
           box(b, "hits", "hits", "%.0f", (double)counter_get(&f->hits)) &&
           box(b, "misses", "misses", "%.0f", (double)counter_get(&f->misses)) &&
           box(b, "requests per second", "rate", "%.0f", rate) &&
           box(b, "requests", "requests", "%.0f", (double)stats_requests(w->s)) &&
           box(b, "connections", "connections", "%.0f", (double)counter_get(&w->s->connections)) &&
           buffer_print(b, "</dl>");
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

/* Appends 1234567 as 1,234,567. */
static bool grouped(buffer *b, uint64_t v)
{
    if (v < 1000) return buffer_print(b, "%u", (unsigned)v);
    return grouped(b, v / 1000) && buffer_print(b, ",%03u", (unsigned)(v % 1000));
}

static bool cell(buffer *b, const char *name, uint64_t v)
{
    return buffer_print(b, "<td data-name=\"%s\">", name) && grouped(b, v);
}

static bool about(buffer *b, served *f)
{
    bf_info i;
    bf_get_info(f->f, &i);
    return buffer_print(b, "<p class=\"soft\">Filter <b>%s</b>: %s, m = ", f->name,
               kind_of(i.counting, i.grow, i.window)) &&
           grouped(b, i.m) && buffer_print(b, " %s, n = ", i.counting ? "counters" : "bits") &&
           grouped(b, i.n) &&
           buffer_print(b, " keys, k = %u, p = %.3g %%, scheme %s, in %s, parts: %u</p>", i.k,
               100 * i.p, i.scheme, i.home, i.part_count);
}

/* The filters: which of them are overfull or do not reply. */
typedef struct {
    unsigned over, silent, all;
    buffer names;
    buffer first, rest; /* rows of the table: those filters first */
} alarms;

/* Names of filters need no escaping in HTML.  mine: this page's filter, already locked. */
static bool row(worker *w, served *f, const served *mine, alarms *l)
{
    bf_info i;
    bf_state st;
    bf_get_info(f->f, &i);
    bool known;
    const bool up = stats_state(w, f, &st, &known);
    const bool over = known && (st.saturated == BF_OVERFULL || st.fpr > 1.5 * i.p);
    l->all++;
    l->over += over;
    l->silent += !up;
    if ((over || !up) && !buffer_print(&l->names, "%s<a href=\"#f-%s\">%s</a>",
                             l->names.len ? ", " : "", f->name, f->name))
        return false;
    buffer *b = over || !up ? &l->first : &l->rest;
    const char *kind = kind_of(i.counting, i.grow, i.window);
    bool ok = buffer_print(b,
        "<tr id=\"f-%s\"%s><td data-name=\"filter\"><a href=\"%s%s%sstats\">%s</a><td data-name=\"kind\">%s",
        f->name, over || !up ? " class=\"over\"" : "", f == mine ? "" : "f/",
        f == mine ? "" : f->name, f == mine ? "" : "/", f->name, kind);
    ok = ok && (i.part_count < 2 || buffer_print(b, ", %u parts", i.part_count));
    if (known)
        ok = ok && cell(b, "keys (estimated)", (uint64_t)(st.count < 1e18 ? st.count + 0.5 : 1e18));
    else
        ok = ok && buffer_print(b, "<td data-name=\"keys (estimated)\">%s", up ? "" : "no reply");
    ok = ok && cell(b, "planned keys (n)", i.n);
    ok = ok && buffer_print(b, "<td data-name=\"fill\">") &&
         (!known || buffer_print(b, "%.3g %%", 100 * st.fill));
    ok = ok && buffer_print(b, "<td data-name=\"false positives now\">") &&
         (!known || buffer_print(b, "%.3g %%", 100 * st.fpr));
    ok = ok && buffer_print(b, "<td data-name=\"false positives planned (p)\">%.3g %%", 100 * i.p);
    return ok && cell(b, "hits", counter_get(&f->hits)) &&
           cell(b, "misses", counter_get(&f->misses));
}

static bool rows_of(worker *w, const served *mine, alarms *l)
{
    size_t count;
    served **all = stats_list(w, &count);
    bool ok = all;
    for (size_t i = 0; ok && i < count; i++) ok = row(w, all[i], mine, l);
    if (all) filters_list_free(all, count);
    return ok;
}

static bool table(buffer *b, const alarms *l)
{
    bool ok = buffer_print(b,
        "<table id=\"filters\"><tr><th>filter<th>kind<th>keys (estimated)<th>planned keys (n)"
        "<th>fill<th>false positives now<th>false positives planned (p)<th>hits<th>misses");
    ok = ok && (!l->first.len || buffer_add(b, l->first.ptr, l->first.len));
    ok = ok && (!l->rest.len || buffer_add(b, l->rest.ptr, l->rest.len));
    return ok && buffer_print(b, "</table>");
}

static bool alarm_of(buffer *b, const alarms *l)
{
    const char *over = l->over == 1 ? "filter" : "filters";
    bool ok = buffer_print(b, "<p id=\"alarm\"%s>", l->names.len ? " class=\"over\"" : "");
    if (l->over) ok = ok && buffer_print(b, "%u %s over capacity", l->over, over);
    if (l->silent) ok = ok && buffer_print(b, "%s%u without reply", l->over ? ", " : "", l->silent);
    if (!l->names.len)
        return ok && buffer_print(b, "%u %s, none over capacity</p>", l->all,
                         l->all == 1 ? "filter" : "filters");
    return ok && buffer_print(b, ": %.*s</p>", (int)l->names.len, l->names.ptr);
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
              head(b, w->s) && boxes(b, w, f, &st, rate) && picture(b, f) && about(b, f) &&
              table(b, &l) && points_of(b, points, n) && buffer_add(b, script, sizeof script - 1);
    buffer_drop(&l.first);
    buffer_drop(&l.rest);
    buffer_drop(&l.names);
    strcpy(a->more,
        "Content-Security-Policy: default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'\r\n");
    if (ok) reply_made(a, "text/html; charset=utf-8");
    return ok;
}
