"""tests/vectors/*.jsonl: keys and the positions they must have, for ever.  C, PHP and Python each
give every one of them."""

import itertools
import json

import pytest
from products import ROOT
from three_sides import asked, write_keys

FILES = sorted((ROOT / "tests" / "vectors").glob("*.jsonl"))


def cases_of(path):
    """[what the constructor is given, [(key, positions)]]"""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [row for row in rows if "meta" not in row]

    def given(row):
        return {name: row[name] for name in ("scheme", "m", "k", "secret") if row[name]}

    for args, group in itertools.groupby(rows, given):
        secret = {"secret": bytes.fromhex(args["secret"])} if "secret" in args else {}
        yield args | secret, [(bytes.fromhex(row["key"]), row["positions"]) for row in group]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vectors(path, sides, tmp_path):
    cases = list(cases_of(path))
    assert cases
    for args, rows in cases:
        assert all(len(at) == args["k"] and 0 <= min(at) <= max(at) < args["m"] for _, at in rows)
        write_keys(tmp_path / "keys", [("b", key) for key, _ in rows])
        lines = [f"positions {i} {' '.join(map(str, at))}" for i, (_, at) in enumerate(rows)]
        for name, side in sides.items():
            got = asked(side, "positions", {"keys": tmp_path / "keys"}, **args)
            assert got == lines, (name, args)
