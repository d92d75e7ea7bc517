"""docs/calculator.js computes what BloomFilter.plan computes."""

import json
import shutil

import pytest
from bloomfilter import BloomFilter
from products import ROOT, run

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="no node here")
GIVEN = [
    {"n": n, "p": p}
    for n in (1, 3, 100, 5000, 10**6, 3 * 10**9)
    for p in (0.5, 0.1, 0.02, 0.001, 1e-6, 1e-9)
]
GIVEN += [{"m": m, "n": n} for m in (200, 8000, 10**6, 10**9) for n in (100, 3000, 10**6, 10**8)]
GIVEN += [{"m": m, "p": p} for m in (1000, 8000, 10**6, 10**12) for p in (0.1, 0.01, 1e-5)]
GIVEN += [{"m": m, "k": k} for m in (600, 70000, 10**9) for k in (1, 4, 7, 16)]
CASES = [(given, scheme) for given in GIVEN for scheme in (None, "classic", "block", "block2")]
# what a person types -> the number
TEXTS = {
    "": None, "1000000": 1e6, "1,000,000": 1e6, "1 000 000": 1e6, "1_000": 1000, "1e6": 1e6, "2.5E3": 2500,
    "100M": 1e8, "1k": 1000, "1%": 0.01, "1,5%": 0.015, "1.5 %": 0.015, "0,01": 0.01, "0,001": 0.001,
    "1,234%": 0.01234, "1e-6": 1e-6, "1e-3%": 1e-5, "3": 3, "1,234.5": 1234.5,
    "abc": "NaN", "%": "NaN", "1,5,5": "NaN", "1.5.5": "NaN", "1e": "NaN", "e6": "NaN", "--1": "NaN",
    "0x10": "NaN", "_1": "NaN", "Infinity": "NaN",
}  # fmt: skip
SCRIPT = """const out = CASES.map(([given, scheme]) => {
    if (typeof given === "string") { const got = number(given); return Number.isNaN(got) ? "NaN" : got ?? null; }
    try { const size = plan(given, scheme ?? undefined); return {...size, at: curve(size, 4).map((x) => x[1])}; }
    catch (fault) { return null; } });"""


def computed(tmp_path, cases):
    source = (ROOT / "docs" / "calculator.js").read_text()
    script = f"const CASES = {json.dumps(cases)};\n{SCRIPT}\n"
    (tmp_path / "run.js").write_text(f"{source}\n{script}console.log(JSON.stringify(out));\n")
    return json.loads(run(["node", tmp_path / "run.js"]))


def planned(given, scheme):
    try:
        return BloomFilter.plan(scheme=scheme, **given)
    except ValueError:
        return None


def test_the_numbers_are_those_of_plan(tmp_path):
    for (given, scheme), got in zip(CASES, computed(tmp_path, CASES), strict=True):
        wanted, case = planned(given, scheme), f"{scheme} {given}"
        assert (got is None) == (wanted is None), f"{case}: {got} {wanted}"
        if wanted is None:
            continue
        assert got["scheme"] == wanted["scheme"], case
        assert [got[name] for name in "nmk"] == [wanted[name] for name in "nmk"], case
        assert got["p"] == pytest.approx(wanted["p"], rel=1e-6), case
        assert got["bytes"] == (wanted["m"] + 7) // 8, case
        assert got["at"][0] == 0 and got["at"] == sorted(got["at"]), case
        if (wanted["m"], wanted["n"]) != (given.get("m"), given.get("n")):
            continue
        assert got["at"][1] == pytest.approx(wanted["p"], rel=1e-6), case


def test_the_numbers_that_a_person_types(tmp_path):
    got = computed(tmp_path, [[text, None] for text in TEXTS])
    assert dict(zip(TEXTS, got, strict=True)) == TEXTS
