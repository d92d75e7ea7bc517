/* page.c - the status page: a single HTML file; a short script updates it from /stats.  Knows HTML;
 * gets its numbers from stats.c and history.c. */
#include "server.h"

static const char before[] =
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
    "<link rel=\"icon\" href=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAABlBMVEUAAAAAlohhH59BAAAAAXRSTlMAQObYZgAAAB5JREFUeNpjYGBgqD7AxMAAQQwMDAwVcihc5nvIXABTlALFK2chqAAAAABJRU5ErkJggg==\">"
    "<title>bloomfilterd</title><style>"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "h1{font-size:1.3rem;font-weight:600}dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:.8rem;margin:1rem 0}"
    "dl div{border:1px solid #ddd;border-radius:.4rem;padding:.5rem .8rem}dt{color:#666;font-size:.85rem}"
    "dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}"
    ".wide{overflow-x:auto;margin:1rem 0}table{width:100%;border-collapse:collapse;font-size:.9rem}th,td{text-align:right;padding:.2rem .5rem;border-bottom:1px solid #ddd;font-variant-numeric:tabular-nums;white-space:nowrap}th{color:#666;font-weight:400}"
    "th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:8rem}.over{color:#a33;font-weight:600}"
    "svg{width:100%;height:auto;border:1px solid #ddd;border-radius:.4rem}text{font-size:12px;fill:#666}#note{color:#a33}"
    "@media(max-width:40rem){text{font-size:19px}}"
    "@media(prefers-color-scheme:dark){body{background:#181a1b;color:#ddd}dt,text{color:#999;fill:#999}dl div,svg,th,td{border-color:#444}th{color:#999}.over,#note{color:#f88}}"
    "</style><h1>bloomfilterd</h1>";

static const char script[] =
    "<script>\n"
    "const W=700,H=200,L=96,B=28;let turn=0;const points=JSON.parse(document.getElementById('points').textContent);\n"
    "const of=id=>document.getElementById(id),big=n=>Math.round(n).toLocaleString('en');\n"
    "const percent=x=>{const v=100*x;return(v&&v<1e-4?v.toExponential(2).replace(/\\.?0+e/,'e'):+v.toPrecision(3))+' %'};\n"
    "function draw(){\n"
    " const known=points.filter(p=>p[1]>=0);if(!known.length)return;\n"
    " const a=known[0][0],z=Math.max(known[known.length-1][0],a+1),top=Math.max(1e-9,...known.map(p=>p[1]))*1.1;\n"
    " of('line').setAttribute('points',known.map(p=>(L+(W-L-8)*(p[0]-a)/(z-a)).toFixed(1)+','+(H-B-(H-B-10)*p[1]/top).toFixed(1)).join(' '));\n"
    " of('top').textContent=percent(top);of('from').textContent=Math.round(a)+' s';of('to').textContent=Math.round(z)+' s';\n"
    "}\n"
    "async function ask(){\n"
    " try{\n"
    "  const r=await fetch('stats');if(!r.ok)throw r.status;const s=await r.json();\n"
    "  of('fill').textContent=percent(s.fill);of('fpr').textContent=percent(s.fpr_now);of('count').textContent=big(s.count);\n"
    "  of('rate').textContent=big(s.requests_per_second);of('connections').textContent=big(s.connections);\n"
    "  of('requests').textContent=big(s.requests);of('note').textContent='';\n"
    "  if(++turn%5==0){\n"
    "   const d=await fetch('.');if(!d.ok)throw d.status;\n"
    "   of('filters').replaceWith(new DOMParser().parseFromString(await d.text(),'text/html').getElementById('filters'));\n"
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

static bool boxes(buffer *b, worker *w, const bf_state *st, double rate)
{
    return buffer_print(b, "<dl>") && box(b, "fill", "fill", "%.3g %%", 100 * st->fill) &&
           box(b, "false positives now", "fpr", "%.3g %%", 100 * st->fpr) &&
           box(b, "keys, about", "count", "%.0f", st->count) &&
           box(b, "requests per second", "rate", "%.0f", rate) &&
           box(b, "requests", "requests", "%.0f", (double)stats_requests(w->s)) &&
           box(b, "connections", "connections", "%.0f", (double)tallied(&w->s->connections)) &&
           buffer_print(b, "</dl>");
}

static bool picture(buffer *b)
{
    return buffer_print(b,
        "<svg viewBox=\"0 0 700 200\" role=\"img\" aria-label=\"fill over time\">"
        "<path d=\"M96 10V172H692\" fill=\"none\" stroke=\"#999\"/><polyline id=\"line\" fill=\"none\" stroke=\"#2a6\" stroke-width=\"2\"/>"
        "<text x=\"92\" y=\"22\" text-anchor=\"end\" id=\"top\"></text><text x=\"92\" y=\"174\" text-anchor=\"end\">0</text>"
        "<text x=\"96\" y=\"192\" id=\"from\"></text><text x=\"692\" y=\"192\" text-anchor=\"end\" id=\"to\"></text>"
        "<text x=\"394\" y=\"192\" text-anchor=\"middle\">fill over time since the start</text></svg><p id=\"note\"></p>");
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

static bool about(buffer *b, served *f)
{
    bf_info i;
    bf_get_info(f->f, &i);
    return buffer_print(b, "<p>Filter <b>%s</b>: %s, m = ", f->name,
               kind_of(i.counting, i.grow, i.window)) &&
           grouped(b, i.m) && buffer_print(b, " %s, n = ", i.counting ? "counters" : "bits") &&
           grouped(b, i.n) &&
           buffer_print(b, " keys, k = %u, p = %.3g %%, scheme %s, home %s, parts: %u</p>", i.k,
               100 * i.p, i.scheme, i.home, i.part_count);
}

/* Names of filters need no escaping in HTML.  mine: this page's filter, whose lock is held. */
static bool row(buffer *b, worker *w, served *f, const served *mine)
{
    bf_info i;
    bf_state st;
    bf_get_info(f->f, &i);
    const bool up = f == mine ? filter_state(f, &st, NULL) >= 0 : stats_state(w, f, &st);
    const bool ok = buffer_print(b, "<tr><td>%s<td>%s<td>%u<td>", f->name,
                        kind_of(i.counting, i.grow, i.window), i.part_count) &&
                    grouped(b, i.n) && buffer_print(b, "<td>%.3g %%<td", 100 * i.p);
    if (!ok || !up) return ok && buffer_print(b, " colspan=\"3\">no reply");
    return buffer_print(b, ">") &&
           grouped(b, (uint64_t)(st.count < 1e18 ? st.count + 0.5 : 1e18)) &&
           buffer_print(b, "<td>%.3g %%<td%s>%.3g %%", 100 * st.fill,
               st.fpr > 1.5 * i.p ? " class=\"over\" title=\"above p: more keys than n\"" : "",
               100 * st.fpr);
}

static bool table(buffer *b, worker *w, const served *mine)
{
    size_t count;
    served **all = filters_list(&w->s->fs, &count);
    bool ok =
        all &&
        buffer_print(b,
            "<div class=\"wide\"><table id=\"filters\"><tr><th>filter<th>kind<th>parts<th>n<th>p"
            "<th>keys, about<th>fill<th>rate now");
    for (size_t i = 0; ok && i < count; i++) ok = row(b, w, all[i], mine);
    if (all) filters_unlist(all, count);
    return ok && buffer_print(b, "</table></div>");
}

bool page(worker *w, served *f, reply *a)
{
    point points[HISTORY];
    bf_state st;
    bf_error err;
    double rate;
    buffer *b = &a->made;
    size_t n = history_read(&w->s->history, points, &rate);
    if (filter_state(f, &st, &err) < 0) {
        stored_hide(&w->s->fs, name_of(f), &err);
        reply_status(a, 503, err.msg);
        return false;
    }
    bool ok = buffer_add(b, before, sizeof before - 1) && about(b, f) && boxes(b, w, &st, rate) &&
              picture(b) && table(b, w, f) && points_of(b, points, n) &&
              buffer_add(b, script, sizeof script - 1);
    strcpy(a->more,
        "Content-Security-Policy: default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'\r\n");
    if (ok) reply_made(a, "text/html; charset=utf-8");
    return ok;
}
