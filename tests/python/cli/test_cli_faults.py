"""The command line where things go wrong: one clear line, the right exit code, nothing lost that
was added."""

import contextlib
import json
import os
import resource
import select
import shlex
import signal
import subprocess
import sys
import threading

import pytest
from cli_helpers import COMMAND, cli, fails, ok, started

from bloomfilter import BloomFilter, CountingBloomFilter, cli as package
from bloomfilter.cli import homes, lines
from bloomfilter.cli import keys as cli_keys


@pytest.fixture
def seen(tmp_path):
    path = tmp_path / "seen.bloom"
    BloomFilter(n=10_000, p=0.001, storage=path).close()
    return path


# ---- what is refused before anything is read or written ----
URL = "redis://127.0.0.1:1/0?key=x"
NO_FILE_OF_KEYS = "KEYFILE must be the name of a file of keys, got an empty name"
REFUSED = [
    *((f"{command} seen ''", NO_FILE_OF_KEYS) for command in "add check rebuild remove count".split()),
    # words
    ("fill", "COMMAND: fill is unknown (see"),
    ("adds seen", "COMMAND: adds is unknown; did you mean add? (see"),
    ("--josn info seen", "--josn; did you mean --json?"),
    ("add seen --prnt=new", "; did you mean --print? (see bloomfilter add"),
    ("check seen --print absnt", "; did you mean absent? ("),
    ("plan -n 5 -p 1% --scheme clasic", "did you mean classic?"),
    ("add", "required: FILE (see"),
    ("check seen --print new", "--print"),
    ("add x --hashes --scheme block -n 5 -p 1%", "a filter of scheme hashes64, not block"),
    ("add seen --overfull never", "it must be warn, raise or ignore, got never"),
    # numbers
    ("create new", "pass -n and -p (or -m and -n) to create "),
    ("create new -n 5", "pass -n and -p (or -m and -n"),
    ("create new -m 0 -n 1", "-m must be"),
    ("create new -n -5 -p 0.1", "-5"),
    ("create new -n 5 -p 2", "2"),
    ("create new -n 1.5 -p 0.1", "1.5"),
    ("create new -n 1e400 -p 0.1", "n must be"),
    ("create new -n 1e13 -p 0.1", "needs m="),
    ("plan -n 5 -p -1%", "-p must be above 0 and below 1, got -0.01"),
    ("plan -n 1e400 -p 1%", f"got 1{'0' * 39}..."),
    (f"plan -n {'x' * 300} -p 1%", f"got {'x' * 40}... (see"),
    *((f"plan {words}", "pass -n and -p (or -m and -n") for words in ("", "-p 1%", "-k 5", "-p 1% -k 5")),
    # kinds of filters
    ("create new -n 5 -p 0.1 --scheme nope", "nope"),
    ("create new -n 5 -p 1% --grow 0.5", "--grow must be a factor from 1 to 1024"),
    ("add new -n 10 -p 0.1 --window 0", "window must be"),
    ("add new -n 10 -p 0.1 --parts 3", "--parts is for forgetting filters: pass --window"),
    ("plan -n 10 -p 1% --grow 2 --window 5", "--grow 2 and --window 5 must not be given together"),
    ("create new -n 10 -p 1% --counting --window 2", "a counting filter cannot forget"),
    ("plan -n 10 -p 1% --shards 3 --grow 2", "--shards 3: a filter with shards"),
    # homes
    (f"add {URL}", "127.0.0.1:1: Connection refused"),
    (f"add {URL} --exclusive", "exclusive"),
    ("info redis://127.0.0.1:1/0", "names no key"),
    ("expire seen 10", "only filters in Redis"),
    *((f"expire seen {at}", "SECONDS must be 0 (never) to 10000000000, got") for at in (-1, "-1%", "nan")),
    ("adopt seen --scheme gozero -m 1000", "pass a URL"),
    ("adopt seen", "pass the other system's scheme (--scheme)"),
    *((f"{words} /etc/passwd", "is not a filter file") for words in ("check", "info", "merge out", "merge seen")),
    # study, bench, plot
    ("study --confidence 1", "confidence"),
    ("study --schemes nope", "nope"),
    ("study --schemes ''", "names are like classic,block"),
    ("study /dev/null", "at least 2"),
    ("study /nonexistent", "No such file"),
    ("bench -n 0", "-n must"),
    ("bench --k-best 9 --max 5", "--k-best"),
    ("bench --tolerance -1", "--tolerance"),
    ("bench -n 10 -p 7", "p must"),
    ("bench -n 10 --file seen", "exists already"),
    ("plot k -o k.txt", ".png"),
    ("plot k -o k.png --dpi 0", "--dpi"),
    ("plot k", "-o"),
    ("plan -n 1M -p 1% --plot x.gif", "must end in .png"),
]  # fmt: skip


@pytest.mark.parametrize("words, says", REFUSED, ids=lambda text: text[:60])
def test_what_is_refused(tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    BloomFilter(n=100, p=0.01, storage="seen").close()
    before = (tmp_path / "seen").read_bytes()
    assert says in fails(*shlex.split(words), data=b"a\nb\n")
    assert os.listdir() == ["seen"] and (tmp_path / "seen").read_bytes() == before


def test_suggestions_are_near():
    assert "did you mean" not in fails("check", "x", "--zzz")


# ---- what is not there, or not what it should be ----
def test_missing_files(tmp_path, seen):
    none, folder = tmp_path / "none", tmp_path / "folder"
    folder.mkdir()
    for command in ("add", "check"):
        assert "No such file" in fails(command, none, data=b"a\n")
        assert f"{none}: No such file" in fails(command, seen, none)
        assert f"{folder} is a directory" in fails(command, seen, folder)
    assert "No such file" in fails("info", none) and "No such file" in fails(
        "convert", none, tmp_path / "x"
    )
    assert "No such file" in fails("create", none, "-n", "5", "-p", "0.1", "--secret-file", none)
    assert not none.exists()


def test_names_that_begin_with_a_dash(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-keys").write_bytes(b"a\nb\n")
    ok("create", "-n", 10, "-p", 0.01, "--", "-x")
    assert "2 new" in ok("add", "--", "-x", "-keys").text
    assert "1 present" in ok("check", "--", "-x", "-", data=b"a\n").text
    ok("convert", "--to", "bits", "--", "-x", "-y")
    assert BloomFilter.open("-x").bitset == (tmp_path / "-y").read_bytes()


@pytest.mark.parametrize("command", ["add", "check", "rebuild", "remove", "count"])
def test_the_filter_is_no_file_of_keys(tmp_path, command):
    path, link = tmp_path / "c", tmp_path / "link"
    ok("create", path, "-n", 100, "-p", 0.01, "--counting")
    ok("add", path, data=b"a\n")
    before = path.read_bytes()
    link.symlink_to(path)
    for keys in (path, link):
        assert "c is the filter, not a file of keys" in fails(command, path, keys)
    with path.open("rb") as stdin:
        assert "c is the filter" in fails(command, path, stdin=stdin)
    assert path.read_bytes() == before


def test_swapped_operands(tmp_path, seen):
    keys, other = tmp_path / "keys", tmp_path / "other"
    keys.write_bytes(b"a\n")
    other.write_bytes(b"b\n")
    for command in ("add", "check", "rebuild", "remove", "count"):
        text = fails(command, keys, seen)
        assert f"{seen} is a filter, not a file of keys: FILE comes before KEYFILE" in text
        text = fails(command, keys, keys)
        assert text.endswith("keys is the filter, not a file of keys")
        text = fails(command, keys, other)
        assert text == f"{keys} is not a filter file: FILE comes before KEYFILE"
    assert keys.read_bytes() == b"a\n"


def test_a_line_that_never_ends(seen, tmp_path, monkeypatch):
    for name, value in (("BLOCK", 64), ("HEAD", 16), ("LONGEST", 1000)):
        monkeypatch.setattr(lines, name, value)
    keys = tmp_path / "keys"
    keys.write_bytes(b"first\n" + b"x" * 2000)
    says = "it has 1,000 bytes or more, too many for a key here; the keys before it were taken"
    assert fails("add", seen, keys) == f"{keys}, key 2: {says}"


def test_a_long_line_from_a_pipe_is_looked_at_once():
    source, sink = os.pipe()
    line = b"x" * (8 << 20) + b"\n"
    looked_at = 0

    def feed(data, last):
        nonlocal looked_at
        looked_at += len(data)

    writer = threading.Thread(target=lambda: (os.write(sink, line + b"rest"), os.close(sink)))
    writer.start()
    lines.read(source, b"\n", feed)
    writer.join()
    os.close(source)
    assert looked_at < 2 * len(line)


def test_a_missing_key_file_is_told_before_any_is_read(tmp_path, seen):
    (tmp_path / "keys").write_bytes(b"a\n")
    fails("add", seen, tmp_path / "keys", tmp_path / "none")
    assert not BloomFilter.open(seen)


def test_names_that_are_no_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe.bloom"
    ok("create", path, "-n", "100", "-p", "0.1")
    ok("add", path, data=b"a\n")
    assert cli("check", path, data=b"a\n").code == 0
    ok("info", path, "--json")


def test_a_key_that_the_scheme_cannot_hold(tmp_path):
    path, keys = tmp_path / "java.bloom", tmp_path / "keys"
    ok("create", path, "-m", "1e6", "--scheme", "java7")
    keys.write_bytes(b"".join(b"%d\n" % i for i in range(200_000)) + b"\xff\n")
    text = fails("add", path, keys)
    assert f"{keys}, key 200001: " in text and "the keys before it were taken" in text
    assert cli("check", path, data=b"0\n199999\n").code == 0


def test_redis_lost_while_adding(redis_url):
    with BloomFilter(n=1000, p=0.01, storage=redis_url) as bf:
        child = started("add", redis_url, "--print", "new")
        child.stdin.write(b"a\n")
        assert child.stdout.readline() == b"a\n"
        bf.delete()
        out, err = child.communicate(b"b\n")
    assert (child.returncode, out) == (2, b"") and b"lost" in err and err.count(b"\n") == 1


# ---- disks ----
def limited(limit):
    def run():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return run


@pytest.mark.parametrize(
    "words",
    [
        ["create", "new.bloom", "-n", "1e6", "-p", "0.01"],
        ["merge", "new.bloom", "big.bloom"],
        ["convert", "big.bloom", "new.bloom"],
        ["convert", "big.bloom", "new.bloom", "--to", "bits"],
    ],
)
def test_no_room_leaves_nothing(tmp_path, words):
    """A limit of the size of files is met as a full disk is."""
    BloomFilter(n=1_000_000, p=0.01, storage=tmp_path / "big.bloom").close()
    text = fails(*words, cwd=tmp_path, preexec_fn=limited(10_000))
    assert "large" in text or "room" in text or "space" in text
    assert sorted(os.listdir(tmp_path)) == ["big.bloom"]


def test_output_that_cannot_be_written(seen):
    with open("/dev/full", "wb") as full:
        for words, says in (
            (["add", seen, "--print", "new"], b"; keys taken: 1"),
            (["add", seen], b"; 1 key: "),
            (["check", seen, "--json"], b"; 1 key: "),
            (["info", seen], b""),
            (["completion", "bash"], b""),
            (["--version"], b""),
            (["add", "--help"], b""),
        ):
            done = cli(*words, data=b"a\n", stdout=full)
            assert done.code == 2 and b"standard output: No space left" in done.err
            assert says in done.err and (b"; " in done.err) == bool(says)
    assert "a" in BloomFilter.open(seen)


# ---- whoever reads goes away ----
def test_a_broken_pipe_is_quiet(seen, tmp_path):
    keys = tmp_path / "keys"
    keys.write_bytes(
        b"".join(b"key %d\n" % i for i in range(10_000))
    )  # no more than it is sized for
    for words in (
        ["add", seen, keys, "--print", "new"],
        ["check", seen, keys, "--print", "present"],
        ["study", keys, "--schemes", "classic"],
    ):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([*COMMAND, *words], stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        assert (done.returncode, done.stderr) == (141, b"")
    assert "key 0" in BloomFilter.open(seen)


def test_standard_output_or_error_closed(seen):
    run = f"{sys.executable} -m bloomfilter"
    before = seen.read_bytes()
    for shell in (
        f"{run} info {seen} >&-",
        f"echo a | {run} check {seen} --print absent >&-",
        f"{run} info {seen}x 2>&-",
        f"{run} check {seen} <&-",
    ):
        done = subprocess.run(["sh", "-c", shell], capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (2, b""), shell
        assert done.stderr.count(b"\n") == (0 if "2>" in shell else 1), done.stderr
    assert seen.read_bytes() == before


# ---- signals ----
class Adding:
    """A command that adds from a pipe and has answered for the keys it was sent."""

    def __init__(self, seen, *words):
        self.child = started("add", seen, "--print", "new", *words)
        for i in range(300):
            self.child.stdin.write(b"key %d\n" % i)
            assert self.child.stdout.readline() == b"key %d\n" % i

    def end(self, number):
        self.child.send_signal(number)
        out, err = self.child.communicate()
        return self.child.returncode, out, err.decode()


@pytest.mark.parametrize(
    "number, code, word", [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_interrupted(seen, number, code, word):
    ended, out, err = Adding(seen).end(number)
    assert (ended, out) == (code, b"")
    assert err == f"bloomfilter: {word} after 300 keys, 300 of them new: {seen} keeps them\n"
    with BloomFilter.open(seen) as bf:
        assert all(f"key {i}" in bf for i in range(300))


def test_interrupted_while_it_is_imported():
    """Through the entry point of the program, when a module of the command is looked for."""
    code = """
import os, signal, sys
from importlib.metadata import entry_points
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "bloomfilter.cli.faults":
            os.kill(os.getpid(), signal.SIGINT)
(program,) = entry_points(group="console_scripts", name="bloomfilter")
sys.meta_path.insert(0, Finder())
sys.exit(program.load()())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize(
    "before, after, state, there",
    [
        (1, 0, "is as it was", [True, False]),
        (0, 1, "has the new keys", [False, True]),
        (0, 2, "has the old keys or the new ones", [False, True]),
    ],
)
def test_interrupted_while_it_rebuilds(seen, monkeypatch, before, after, state, there):
    """Once the filter is exchanged the message does not say that it is as it was."""
    with BloomFilter.open(seen) as bf:
        bf.add("old")
    open_to_write = homes.open_to_write

    def interrupt(times):
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)

    class Interrupted(contextlib.closing):
        def __enter__(self):
            return self

        def rebuild(self, keys):
            class Source(type(keys)):
                def blocks(self, *source):
                    yield from super().blocks(*source)
                    interrupt(before)

            keys.__class__ = Source
            different = self.thing.rebuild(keys)
            interrupt(after)
            return different

    made = lambda *args, **how: Interrupted(open_to_write(*args, **how))  # noqa: E731
    monkeypatch.setattr(homes, "open_to_write", made)
    done = cli("rebuild", seen, data=b"new\n")
    assert (done.code, done.err.decode()) == (130, f"bloomfilter: interrupted: {seen} {state}\n")
    with BloomFilter.open(seen) as bf:
        assert [key in bf for key in ("old", "new")] == there


def test_what_was_added_is_printed_before_a_signal_ends_it(tmp_path, monkeypatch):
    """Keys that are in the filter and went nowhere would never be new again."""
    seen, keys = tmp_path / "large.bloom", tmp_path / "keys"
    BloomFilter(n=200_000, p=0.001, storage=seen).close()
    keys.write_bytes(b"".join(b"key %d\n" % i for i in range(200_000)))  # more than is read at once
    run = cli_keys.run

    def killed(call):
        def update_lines(*args, **options):
            os.kill(os.getpid(), signal.SIGTERM)
            return call(*args, **options)

        return update_lines

    monkeypatch.setattr(cli_keys, "run", lambda call, *more: run(killed(call), *more))
    done = cli("add", seen, keys, "--print", "new")
    assert done.code == 143
    with BloomFilter.open(seen) as bf:
        kept = bf.contains_lines(keys.read_bytes(), keep=True)[3].splitlines()
    new = set(done.out.splitlines())
    assert 1000 < len(new) < 200_000
    assert len(set(kept) - new) < len(kept) / 100  # but for false positives


def test_a_reader_who_does_not_read_holds_up_no_signal(tmp_path):
    keys = tmp_path / "keys"
    keys.write_bytes(b"".join(b"key %d\n" % i for i in range(50_000)))
    code = f"""
from bloomfilter.cli import main, signals
signals.PATIENCE = 1
raise SystemExit(main(["add", {str(tmp_path / "x")!r}, "-n", "1e5", "-p", "0.01", {str(keys)!r}, "--print", "new"]))
"""
    source, sink = os.pipe()  # holds less than all that is new
    child = subprocess.Popen([sys.executable, "-c", code], stdout=sink, stderr=subprocess.PIPE)
    os.close(sink)
    assert select.select([source], [], [], 60)[0]  # it prints
    child.terminate()
    try:
        said = child.communicate(timeout=60)[1]
    finally:
        child.kill()
        os.close(source)
    assert child.returncode == 143
    assert said.startswith(b"bloomfilter: terminated after 50,000 keys")


# ---- faults of our own ----
def test_an_unexpected_fault_is_one_line_too(monkeypatch):
    monkeypatch.setattr(package, "run", lambda args: {}["no such\n thing"])
    assert fails("study") == r"KeyError: 'no such\n thing'"


# ---- what a terminal gets ----
NAME = (
    "x\x1b]0;p\x07\n\x9b31m\u202e"  # moves the title, ends the line, colours, turns the text round
)
SHOWN = r"x\x1b]0;p\x07\n\x9b31m\u202e"


def names_shown(done):
    """The name stands escaped in what was printed; the bytes themselves do not."""
    text = (done.out + done.err).decode()
    assert SHOWN in text, text
    assert all(c.isprintable() or c == "\n" for c in text), text


def test_control_characters_of_names_are_escaped(tmp_path, seen):
    bad, missing = tmp_path / NAME, tmp_path / ("no" + NAME)
    names_shown(ok("create", bad, "-n", "100", "-p", "0.1"))
    names_shown(ok("create", bad, "-n", "100", "-p", "0.1"))
    names_shown(ok("info", bad))
    names_shown(ok("convert", bad, tmp_path / ("copy" + NAME)))
    names_shown(ok("merge", tmp_path / ("all" + NAME), bad))
    assert ok("add", bad, data=b"a\n").code == 0
    for words in (
        ["info", missing],
        ["add", seen, missing],
        ["add", bad, bad],
        ["convert", seen, bad],
        ["merge", seen, bad],
        ["count", bad],
        ["check", bad, "--secret-file", missing],
        ["create", missing],
        ["serve", "--port", NAME],
        ["study", "--schemes", NAME],
    ):
        done = cli(*words)
        assert done.code == 2 and done.err.count(b"\n") == 1
        names_shown(done)


def test_json_has_the_name_itself(tmp_path):
    path = tmp_path / NAME
    ok("create", path, "-n", "100", "-p", "0.1")
    for words in (["info", path], ["add", path], ["check", path]):
        assert json.loads(ok(*words, "--json").out)["file"] == str(path)


def test_warnings_and_interrupts_are_escaped_too(tmp_path):
    path = tmp_path / NAME
    ok("create", path, "-n", "100", "-p", "0.01")
    done = cli("add", path, data=b"".join(b"%d\n" % i for i in range(1000)))
    assert b"warning" in done.err and all(c.isprintable() for c in done.err.decode()[:-1])
    path = tmp_path / ("large" + NAME)
    BloomFilter(n=10_000, p=0.001, storage=path).close()
    _, _, err = Adding(path).end(signal.SIGINT)
    assert SHOWN in err and all(c.isprintable() for c in err[:-1])


# ---- a file that is replaced meanwhile ----
CHANGES = {
    "replaced": lambda path, other: other.rename(path),
    "saved over": lambda path, other: CountingBloomFilter.load(other).save(path),
    "deleted": lambda path, other: path.unlink(),
    "rebuilt": lambda path, other: ok("rebuild", path, data=b"before\nafter\n"),
}


@pytest.mark.parametrize(
    "words", [["add", "--print", "seen"], ["check", "--print", "present"], ["count"]]
)
@pytest.mark.parametrize("how", CHANGES)
def test_a_file_that_is_replaced_meanwhile(tmp_path, how, words):
    """The keys are not in the file that has the name: nobody is told that they are."""
    path, other = tmp_path / "x.bloom", tmp_path / "other.bloom"
    for name in (path, other):
        with CountingBloomFilter(n=1000, p=0.01, storage=name) as bf:
            bf.update(["before", "after"])
    child = started(words[0], path, *words[1:])
    child.stdin.write(b"before\n")
    assert child.stdout.readline().startswith(b"before")
    CHANGES[how](path, other)
    out, err = child.communicate(b"after\n")
    if how == "rebuilt":
        assert child.returncode == 0 and not err, err
    else:
        assert child.returncode == 2 and (words[0] != "add" or not out)
        assert err.startswith(b"bloomfilter: ") and err.count(b"\n") == 1
        assert b"was replaced or deleted" in err


# ---- one writer ----
@pytest.mark.parametrize("show", ["new", "seen"])
def test_what_was_added_before_an_error_is_printed(tmp_path, show):
    """It is never new again."""
    data = b"".join(b"%d\n" % i for i in range(2000))
    env = {**os.environ, "PYTHONWARNINGS": "error"}
    for how, sizes, words, more in (
        ("full", [], ["--overfull", "raise"], {}),
        ("warned", [], [], {"env": env}),
        ("no space", ["--grow", "2"], [], {"preexec_fn": limited(10_000)}),
    ):
        path = tmp_path / how
        ok("create", path, "-n", 1000, "-p", 0.001, *sizes)
        done = cli("add", path, *words, "--print", show, data=data, **more)
        assert done.code == 2 and done.err.count(b"\n") == 1
        said = b"; the keys before it were taken" if how == "full" else b"; keys taken: "
        assert said in done.err and b"pass overfull" not in done.err
        bf, printed = BloomFilter.open(path, read_only=True), done.out.splitlines()
        assert all(key in bf for key in printed)
        if show == "new":  # what is left out is a false positive
            assert len(printed) >= 0.97 * sum(key in bf for key in data.splitlines())


def test_overfull(tmp_path):
    keys = b"".join(b"%d\n" % i for i in range(5000))
    for how, code in (("warn", 0), ("ignore", 0), ("raise", 2)):
        path = tmp_path / how
        ok("create", path, "-n", 1000, "-p", 0.01)
        done = cli("add", path, "--overfull", how, data=keys)
        assert done.code == code and (b"warning: more than half" in done.err) == (how == "warn")
        assert done.err.count(b"\n") == (how != "ignore")
        assert b"warn=" not in done.err and b".py" not in done.err
    assert "it holds the n=1000 keys" in fails("add", path, "--overfull", "raise", data=b"x")
    assert "n=1000 keys" in fails("rebuild", path, "--overfull", "raise", data=keys)
    ok("rebuild", path, data=b"x\n")
    ok("add", path, "--overfull", "raise", data=keys[:1000])


def test_exclusive(tmp_path, seen):
    keys = tmp_path / "keys"
    keys.write_bytes(b"a\nb\n")
    assert "2 new" in ok("add", seen, keys, "--exclusive").text
    ok("rebuild", seen, keys, "--exclusive")
    assert cli("check", seen, keys).code == 0
    ok("merge", tmp_path / "all", seen, "--exclusive")
    ok("merge", tmp_path / "all", seen, "--exclusive")
    ok("add", tmp_path / "new", keys, "-n", 100, "-p", 0.01, "--exclusive")
    assert cli("check", tmp_path / "new", keys).code == 0


@pytest.mark.parametrize("command", ["add", "rebuild", "merge"])
def test_exclusive_where_another_writes(seen, tmp_path, command):
    words = [command, seen, seen] if command == "merge" else [command, seen]
    with BloomFilter.open(seen) as bf:
        bf.add("a")
        assert "writer" in fails(*words, "--exclusive", data=b"b\n")
    with BloomFilter.open(seen, exclusive=True):
        assert f"exclusive writer (pid {os.getpid()})" in fails("add", seen, data=b"b\n")
        assert cli("check", seen, data=b"a\n").code == 0
    assert cli("check", seen, data=b"b\n").code == 1


def test_a_secret_from_a_pipe(tmp_path):
    """bash's <(...) names a pipe, which can be read once."""
    path = tmp_path / "keyed.bloom"
    for command in (f"create {path} -n 100 -p 1%", f"add {path}", f"check {path}"):
        script = (
            f"printf a | {' '.join(COMMAND)} {command} --secret-file <(printf 0123456789abcdef)"
        )
        subprocess.run(["bash", "-c", script], check=True, capture_output=True, timeout=60)
