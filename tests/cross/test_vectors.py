"""tests/vectors/*.jsonl: keys and the positions they must have, for ever.  C, PHP and Python each
give every one of them."""

import itertools
import json

import pytest

from three_sides import run_sides
from products import ROOT

FILES = sorted((ROOT / "tests" / "vectors").glob("*.jsonl"))
SIDES = ["c", "php", "py"]


def cases_of(path):
    """(what the constructor is given) -> rows: key and positions."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [row for row in rows if "meta" not in row]

    def given(row):
        return row["scheme"], row["m"], row["k"], row["secret"]

    return {case: list(group) for case, group in itertools.groupby(rows, given)}


@pytest.fixture(scope="module", params=FILES, ids=[path.stem for path in FILES])
def vectors(request, sides, tmp_path_factory):
    cases = cases_of(request.param)
    keys = [row["key"] for row in next(iter(cases.values()))]
    assert all([row["key"] for row in rows] == keys for rows in cases.values())
    as_dicts = [
        {
            "name": str(i),
            "home": "memory",
            "scheme": scheme,
            "m": m,
            "k": k,
            "secret": secret or "-",
        }
        for i, (scheme, m, k, secret) in enumerate(cases)
    ]
    folder = tmp_path_factory.mktemp("vectors")
    return cases, run_sides(
        sides, "positions", as_dicts, [("b", bytes.fromhex(key)) for key in keys], folder
    )


@pytest.mark.parametrize("side", SIDES)
def test_vectors(vectors, side):
    cases, printed = vectors
    assert len(cases) > 0
    for i, (case, rows) in enumerate(cases.items()):
        lines = [
            f"positions {at} {' '.join(map(str, row['positions']))}" for at, row in enumerate(rows)
        ]
        assert printed[side][str(i)] == lines, case


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_positions_are_below_m(path):
    for (_, m, k, _), rows in cases_of(path).items():
        assert all(
            len(row["positions"]) == k and 0 <= min(row["positions"]) and max(row["positions"]) < m
            for row in rows
        )
