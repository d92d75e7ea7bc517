/* calculator.js - the size and the rate of a filter, as core/size/sizing.c and core/layout/rates.c
 * compute them.  The functions above "the page" know no document; tests/cross/test_calculator.py
 * compares them with BloomFilter.plan. */
"use strict";

const LARGEST = {classic: 4096, block: 16, block2: 32};   // k
const LINE = {classic: 1, block: 512, block2: 512};      // m is a multiple of it
const M_MAX = 2 ** 40, SMALL = 65536, EXACT = 256;

function lineRate(lambda, share, bits) {
    if (lambda > 700) return (-Math.expm1(lambda * Math.log1p(-share))) ** bits;
    let chance = Math.exp(-lambda), clear = 1, sum = 0;
    for (let i = 0; i < 4096; i++) {
        sum += chance * (1 - clear) ** bits;
        if (i > lambda && chance < 1e-16 * sum) break;
        chance *= lambda / (i + 1);
        clear *= 1 - share;
    }
    return sum;
}

/* The rate at c = m / n bits per key. */
const RATE = {
    classic: (c, k) => (-Math.expm1(-k / c)) ** k,
    block: (c, k) => lineRate(512 / c, k / 512, k),
    block2: (c, k) => lineRate(1024 / c, k / 1024, Math.ceil(k / 2))
        * lineRate(1024 / c, k / 1024, Math.floor(k / 2)),
};

/* The rate of a small classic filter: exact for few bits, else a second-order expansion. */
function smallRate(m, n, k) {
    if (m <= EXACT && n * k < 4 * EXACT) {
        const at = new Float64Array(EXACT + 2);
        at[0] = 1;
        for (let t = 0; t < n * k; t++)
            for (let x = Math.min(t, m); x >= 0; x--) {
                at[x + 1] += at[x] * (m - x) / m;
                at[x] *= x / m;
            }
        let rate = 0;
        for (let x = 1; x <= m; x++) rate += at[x] * (x / m) ** k;
        return rate;
    }
    const one = (1 - 1 / m) ** (k * n), two = (1 - 2 / m) ** (k * n), f = 1 - one;
    const variance = Math.max(0, ((m - 1) * two + one - m * one * one) / m);
    return f ** k * (1 + k * (k - 1) / 2 * variance / (f * f));
}

function rateOf(scheme, m, n, k) {
    return n > 0 ? RATE[scheme](m / n, k) : 0;
}

function bitsFor(scheme, p, k) {
    let low = 1e-3, high = k / Math.LN2;
    while (RATE[scheme](high, k) > p && high < M_MAX) {
        low = high;
        high *= 2;
    }
    for (let i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        const c = (low + high) / 2;
        if (RATE[scheme](c, k) > p) low = c;
        else high = c;
    }
    return high;
}

function bestK(scheme, p) {
    let k = Math.min(LARGEST[scheme], Math.max(1, Math.round(-Math.log2(p))));
    let c = bitsFor(scheme, p, k);
    for (const way of [-1, 1])
        while (k + way >= 1 && k + way <= LARGEST[scheme] && bitsFor(scheme, p, k + way) < c) {
            k += way;
            c = bitsFor(scheme, p, k);
        }
    return {k, c};
}

function inRange(name, value, most, integer) {
    if (value === undefined || (value > 0 && value <= most && (!integer || Number.isInteger(value))))
        return value;
    throw new RangeError(integer ? `${name} must be a whole number from 1 to ${most}`
        : `${name} must be between 0 and 1`);
}

/* The scheme that the library uses if none is given, as bf_default_scheme in core/size/sizing.c. */
function defaultScheme({n, p, m, k = 1}) {
    if (m || !n || !p) return "classic";
    if (p >= 1e-3) return k <= LARGEST.block ? "block" : "classic";
    return k <= LARGEST.block2 ? "block2" : "classic";
}

/* Two of n, p, m, k, as BloomFilter.plan takes them -> {scheme, n, p, m, k, bytes, bits}. */
function plan(given, scheme = defaultScheme(given)) {
    let n = inRange("n", given.n, Number.MAX_SAFE_INTEGER, true);
    let m = inRange("m", given.m, M_MAX, true);
    let k = inRange("k", given.k, LARGEST[scheme], true);
    let p = inRange("p", given.p, 1 - Number.EPSILON, false);
    const line = LINE[scheme], toLines = (bits) => Math.ceil(bits / line) * line;
    if (m) m = toLines(m);
    if (m && n) {
        k = k || Math.ceil(m / n * Math.LN2);
        if (line > 1) k = Math.min(k, LARGEST[scheme]);
        if (k > LARGEST[scheme]) throw new RangeError(`k would be ${k}: give a smaller m`);
        p = undefined;
    } else if (n && p) {
        const best = k ? {k, c: bitsFor(scheme, p, k)} : bestK(scheme, p);
        k = best.k;
        m = Math.ceil(best.c * n);
        if (scheme === "classic" && m < SMALL) while (smallRate(m, n, k) > p) m++;
        m = toLines(m);
    } else if (m && p) {
        const best = k ? {k, c: bitsFor(scheme, p, k)} : bestK(scheme, p);
        k = best.k;
        n = Math.floor(m / best.c);
        if (n < 1) throw new RangeError("m bits are too few for p");
    } else if (m && k) {
        n = Math.max(1, Math.floor(m / k * Math.LN2));
    } else {
        throw new RangeError("give n and p, m and n, m and p, or m and k");
    }
    if (m > M_MAX) throw new RangeError(`m would be ${m}: at most ${M_MAX} is possible`);
    return {scheme, n, p: p || rateOf(scheme, m, n, k), m, k, bytes: Math.ceil(m / 8), bits: m / n};
}

/* [keys / n, rate] from 0 to 4 n. */
function curve(size, points = 80) {
    return Array.from({length: points + 1}, (_, i) =>
        [4 * i / points, rateOf(size.scheme, size.m, size.n * 4 * i / points, size.k)]);
}

/* ---- the page ---- */
const COLOUR = {classic: "#0072b2", block: "#d55e00", block2: "#009e73"};   // as cli/plot.py

/* A logarithmic axis: from two decades below p at n keys to 100 %. */
function drawCurve(size) {
    const lowest = Math.floor(Math.log10(size.p)) - 2, rowsPerLabel = Math.ceil(-lowest / 9);
    const x = (keys) => 90 + keys * 95, y = (rate) => 15 + 175 * Math.log10(rate) / lowest;
    const line = curve(size).filter(([, rate]) => rate >= 10 ** lowest)
        .map(([keys, rate]) => `${x(keys).toFixed(1)},${y(rate).toFixed(1)}`);
    const decades = Array.from({length: 1 - lowest}, (_, i) => -i);
    const axis = decades.map((e) =>
        `<line x1="90" x2="470" y1="${y(10 ** e)}" y2="${y(10 ** e)}" stroke="currentColor" opacity="0.2"/>`
        + (e % rowsPerLabel ? ""
            : `<text x="83" y="${y(10 ** e) + 4}" text-anchor="end">${shownRate(10 ** e)}</text>`));
    const keys = [0, 1, 2, 3, 4].map((at) =>
        `<text x="${x(at)}" y="208" text-anchor="middle">${at > 1 ? `${at} n` : "0n"[at]}</text>`);
    return `<svg viewBox="0 0 490 232" role="img" aria-label="Rate of false positives from 0 to 4 n keys, logarithmic"
        style="max-width:30rem;width:100%" font-size="12" fill="currentColor">${axis.join("")}${keys.join("")}
        <line x1="${x(1)}" x2="${x(1)}" y1="15" y2="190" stroke="currentColor" stroke-dasharray="3 3"/>
        <polyline points="${line.join(" ")}" fill="none" stroke="${COLOUR[size.scheme]}" stroke-width="2.5"/>
        <circle cx="${x(1)}" cy="${y(size.p)}" r="4" fill="${COLOUR[size.scheme]}"/>
        <text x="${x(1) + 9}" y="${y(size.p) + 14}">p = ${shownRate(size.p)}</text>
        <text x="280" y="227" text-anchor="middle">keys added</text></svg>`;
}

/* Three digits, without an exponent as far as people can count the zeros. */
function shownRate(rate) {
    const percent = Number((rate * 100).toPrecision(3));
    if (percent && percent < 1e-7) return `${percent.toExponential()} %`;
    return `${percent < 1 ? percent.toFixed(9).replace(/\.?0+$/, "") : percent} %`;
}

/* 1000000, 1,000,000, 1_000_000, 1e6, 100M, 1k, 1% -> a number; nothing -> undefined.  A comma is a
 * decimal comma unless commas group the digits by three: 1,5% and 0,01 are 0.015 and 0.01. */
function number(text) {
    const [, digits, suffix] = text.replace(/[\s_]/g, "").match(/^(.*?)([%kMGT]?)$/);
    if (!digits) return suffix ? NaN : undefined;
    const grouped = suffix !== "%" && /^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(digits);
    const power = {"": 0, "%": -2, k: 3, M: 6, G: 9, T: 12}[suffix];
    const plain = digits.replace(grouped ? /,/g : ",", grouped ? "" : ".");
    const found = plain.match(/^([+-]?\d*\.?\d+)(?:e([+-]?\d{1,3}))?$/i);
    return found && !/^\s*_/.test(text) ? Number(`${found[1]}e${Number(found[2] ?? 0) + power}`) : NaN;
}

function showPlan(form, out) {
    const given = {};
    for (const name of ["n", "p", "m", "k"]) given[name] = number(form.elements[name].value);
    try {
        if (Object.values(given).filter((value) => value !== undefined).length !== 2)
            throw new RangeError("fill in two fields and leave two empty");
        const scheme = form.elements.scheme.value;
        const size = plan(given, scheme === "default" ? undefined : scheme);
        const rows = [["scheme", size.scheme], ["keys (n)", size.n.toLocaleString("en")], ["rate at n keys (p)", shownRate(size.p)],
            ["bits (m)", size.m.toLocaleString("en")], ["bits set per key (k)", size.k],
            ["bytes", size.bytes.toLocaleString("en")], ["bits per key", size.bits.toFixed(2)],
            ["rate at 2 n keys", shownRate(rateOf(size.scheme, size.m, 2 * size.n, size.k))]];
        out.innerHTML = `<table>${rows.map(([name, value]) =>
            `<tr><td>${name}</td><td>${value}</td></tr>`).join("")}</table>${drawCurve(size)}`;
    } catch (fault) {
        out.textContent = `${fault.message}.`;
    }
}

if (typeof document !== "undefined") {
    const form = document.getElementById("size-form");
    const out = document.getElementById("size-shown");
    form.addEventListener("input", () => showPlan(form, out));
    form.addEventListener("submit", (event) => event.preventDefault());
    showPlan(form, out);
}
if (typeof module !== "undefined") module.exports = {plan, rateOf, curve, number};
