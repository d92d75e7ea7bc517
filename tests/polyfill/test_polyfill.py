"""The polyfill against the extension and the vectors: the same bits, bytes and answers."""

import json
import re
from pathlib import Path

import products
import pytest
import three_sides

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
POLYFILL = ROOT / "php-polyfill"


TEN = "php-hashes:JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV,RS,AP"
OLDER = [*(("gozero", m, 14) for m in (1, 1000, 20480, 10**9 + 7)), (TEN, 2**32, 10)]


def run(command, *args):
    return products.run([*command, *args], text=True)


def test_positions_of_older_systems(with_extension, with_polyfill, tmp_path):
    """The extension's, which are those of tests/vectors (tests/c/test_vectors.c).  Those of php-mt:
    tests/php/old_schemes_mt_rand.phpt."""
    keys = [bytes((7 * i + length) % 256 for i in range(length)) for length in range(500)]
    keys += [b"https://example.org/%d" % i for i in range(500)]
    three_sides.write_keys(tmp_path / "keys", [("b", key) for key in keys])
    paths = {"keys": tmp_path / "keys"}
    sides = [
        three_sides.Program([*php, three_sides.CATALOGUE / "side.php"])
        for php in (with_extension, with_polyfill)
    ]
    for scheme, m, k in OLDER:
        theirs, ours = (
            three_sides.asked(side, "positions", paths, scheme=scheme, m=m, k=k) for side in sides
        )
        assert len(theirs) == 1000 and ours == theirs, (scheme, m)
    assert [side.stop() for side in sides] == [0, 0]


@pytest.mark.parametrize("kind", ["block", "classic", "count"])
def test_a_signal_handler_adds_to_the_filter_that_an_add_changes(kind, php):
    signals, absent = json.loads(
        run([php, "-n", "-d", "extension=posix"], HERE / "signals.php", kind)
    )
    assert signals >= 3000
    assert absent == 0


@pytest.mark.parametrize("how", ["Error", "Exception", "exit"])
def test_a_signal_handler_throws_into_calls_for_complete_filters(how, php):
    """It runs, and throws, when the call is done: what a call has added stays."""
    quiet = [php, "-n", "-d", "extension=posix", "-d", "bloomfilter.warn=0"]
    thrown, wrong = json.loads(run(quiet, HERE / "storm.php", POLYFILL / "autoload.php", how))
    assert thrown == (1 if how == "exit" else 400)
    assert wrong == 0


def test_a_signal_handler_needs_the_class_that_is_being_loaded(php):
    with_posix = [php, "-n", "-d", "extension=posix"]
    assert run(with_posix, HERE / "loads.php", POLYFILL / "autoload.php") == "fine"


# ---- what it is as a package ----
DECLARED = "require $argv[1]; echo json_encode(array_map(fn($c) => class_exists($c) ? (new ReflectionClass($c))->isInternal() : null, ['BloomFilter', 'CountingBloomFilter', 'BloomFilterException']));"


def test_declares_its_classes_only_without_the_extension(php):
    autoload = str(POLYFILL / "autoload.php")
    assert json.loads(run([php, "-n"], "-r", DECLARED, autoload)) == [False, False, False]
    beside = products.php_command()
    assert json.loads(run(beside, "-r", DECLARED, autoload)) == [True, True, True]
    code = "$before = get_included_files(); require $argv[1]; new BloomFilter(10, 10); echo count(spl_autoload_functions());"
    assert run(beside, "-r", code, autoload) == "0"


def test_composer_knows_it():
    package = json.loads((POLYFILL / "composer.json").read_text())
    assert package["name"] == "bloomfilter/polyfill"
    assert package["provide"] == {"ext-bloomfilter": "*"}
    assert "replace" not in package
    assert package["autoload"] == {"files": ["autoload.php"]}


def test_runs_without_any_extension_that_may_be_missing(php):
    code = "require $argv[1]; $f = new BloomFilter(n: 1000, p: 0.01); $f->addMany(range(1, 100)); echo $f->count() > 90 ? 'fine' : 'wrong';"
    assert run([php, "-n"], "-r", code, str(POLYFILL / "autoload.php")) == "fine"


def test_constants_are_the_extensions(php):
    stub = (ROOT / "php-ext" / "bloomfilter.stub.php").read_text()
    theirs = re.findall(r"const ([A-Z_]+) = (-?\d+);", stub)
    ours = re.findall(
        r"const ([A-Z_]+) = (-?\d+);", (POLYFILL / "src" / "BloomFilterException.php").read_text()
    )
    assert ours == theirs and len(ours) > 8


def test_methods_are_the_extensions(with_polyfill):
    """Names, arguments, defaults; the argument of a single key has no type: PHP would make 1 of true."""
    code = """foreach (['BloomFilter', 'CountingBloomFilter'] as $c) foreach ((new ReflectionClass($c))->getMethods(ReflectionMethod::IS_PUBLIC) as $m)
        if ($m->class === $c && $m->name[0] . $m->name[1] !== '__' || in_array($m->name, ['__construct', '__serialize', '__unserialize']))
            echo $c, '::', $m->name, '(', implode(', ', array_map(fn($p) => ($p->name === 'key' && count($m->getParameters()) === 1 ? '' : $p->getType()) . ' $' . $p->name . ($p->isOptional() ? '?' : ''), $m->getParameters())),
            '): ', $m->getReturnType(), "\n";"""
    load = f"require '{POLYFILL}/autoload.php';"
    theirs, ours = (
        sorted(run(php, "-r", load + code).splitlines())
        for php in (products.php_command(), with_polyfill)
    )
    assert ours == theirs


def test_own(with_polyfill, with_extension):
    quiet = with_polyfill.index("bloomfilter.warn=0")
    warns = with_polyfill[: quiet - 1] + with_polyfill[quiet + 1 :]
    assert run(warns, HERE / "own.php", *with_extension) == "done\n"
