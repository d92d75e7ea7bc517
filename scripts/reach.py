"""reach.py - which test program runs which line of the core, for scripts/mutate.  Builds copies of
the tree, with gcov and without; knows nothing of mutations."""

import bisect
import collections
import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import resource
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAGE = ROOT / "out" / "mutate"
COPIED = "CMakeLists.txt core cmake tests/c tests/model tests/vectors tests/data tests/coverage.c docs/man server"
COMMON = "core cmake CMakeLists.txt"
KERNELS = ("core/bits/", "core/layout/", "core/keys/")  # what is run with the portable ones, too
FAILED = re.compile(rb"\.[ch]:\d+: ")  # what CHECK prints
FASTEST = next((f"-fuse-ld={one}" for one in ("mold", "lld", "gold") if shutil.which(one)), "")


class Tree:
    """A copy of the sources below out/mutate, and its build."""

    def __init__(self, name, *options, targets=()):
        self.folder, self.watched = STAGE / name, "-fsanitize" in " ".join(options)
        self.build = self.folder / "build"
        for one in COPIED.split():
            source, to = ROOT / one, self.folder / one
            to.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                copy_changed(source, to)
            elif source.exists():
                copy_file(source, to)
        options = [
            "-DBLOOMFILTER_SERVER=OFF",
            "-DBUILD_TESTING=ON",
            "-DCMAKE_BUILD_TYPE=None",
            *options,
        ]
        options += ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DCMAKE_EXE_LINKER_FLAGS={FASTEST}"]
        must("cmake", "-G", "Unix Makefiles", "-S", self.folder, "-B", self.build, *options)
        must("cmake", "--build", self.build, *(["--target", *targets] if targets else []))

    def run(self, program, kernels, cpu, clock, **more):
        """What it ended with, "failed" where it said so, None where it took too long; the seconds of
        a processor that it took; and how many tests it skipped."""
        env = os.environ | {"BLOOMFILTER_SLOW": "1", "BLOOMFILTER_CPU": kernels} | more
        if self.watched:
            env |= {"BLOOMFILTER_SANITIZED": "1", "ASAN_OPTIONS": "allocator_may_return_null=1"}
            cpu *= 5
        said = tempfile.TemporaryFile()
        process = subprocess.Popen(
            [program],
            cwd=self.build,
            env=env,
            start_new_session=True,
            preexec_fn=lambda: bounded(cpu, self.watched),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.PIPE,
        )
        code, took = watch(process, time.monotonic() + clock)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        if process.returncode is None:
            process.wait()
        process.stderr.close()
        said.seek(0)
        return code, took, len(re.findall(rb"(?m)^skip ", said.read()))


def watch(process, end):
    """Reads what the program says until it has ended or a check failed."""
    said, out = b"", process.stderr
    while time.monotonic() < end:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        if not out:
            time.sleep(0.01)
        elif select.select([out], [], [], 0.02)[0]:
            more = os.read(out.fileno(), 1 << 16)
            out = more and out
            said = said[-4096:] + more
            if FAILED.search(said):
                return "failed", 0.0
    return None, 0.0


def must(*command):
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{command}: {run.stdout[-3000:]}{run.stderr[-3000:]}"


def bounded(cpu, watched):
    """What a changed line makes of a size, or of a loop, ends with its process."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    if not watched:  # a sanitizer has 16 TB of addresses
        resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def copy_file(source, to):
    """The tests' own files in memory: they wait for a disk most of their time."""
    data = source.read_bytes().replace(b'"/tmp/bf-', b'"/dev/shm/bf-')
    if not to.exists() or to.read_bytes() != data:
        to.write_bytes(data)


def copy_changed(source, to):
    to.mkdir(parents=True, exist_ok=True)
    for name in to.iterdir():
        if not (source / name.name).exists():
            shutil.rmtree(name) if name.is_dir() else name.unlink()
    for name in source.iterdir():
        (copy_changed if name.is_dir() else copy_file)(name, to / name.name)


def with_headers(source):
    """A program of the tests, and the helpers that it includes."""
    found, more = [], [source]
    while more:
        one = more.pop()
        found.append(one)
        for name in re.findall(r'#include "([\w./]+)"', one.read_text()):
            for folder in (one.parent, ROOT / "tests/c/helpers"):
                header = (folder / name).resolve()
                if header.exists() and "tests" in header.parts and header not in found + more:
                    more.append(header)
    return sorted(set(found))


def digest_of(*paths):
    files = [f for p in paths for f in (sorted(p.rglob("*")) if p.is_dir() else [p]) if f.is_file()]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:16]


class Reach:
    """Of each program: what it takes, and the lines of the core that it runs."""

    def __init__(self, plain, jobs, longest, only=()):
        sources = {p.stem: p for p in (ROOT / "tests").glob("*/test_*.c")}
        self.kept, self.longest, self.only = STAGE / "reach", longest, only
        self.kept.mkdir(exist_ok=True)
        common = digest_of(*(ROOT / one for one in COMMON.split()))
        self.runs = {}  # (program, kernels) -> what is known of it
        todo = []
        for name, source in sorted(sources.items()):
            if not only and not (plain.build / "tests" / name).exists():
                continue
            mine = common + digest_of(*with_headers(source))
            for kernels in (
                ["", "portable"] if "Runs with both kernels" in source.read_text() else [""]
            ):
                known = self.kept / f"{name}{kernels and '-'}{kernels}"
                found = json.loads(known.read_text()) if known.exists() else {}
                if name in only:
                    files = {"files": {}, "objects": {}} | found
                    self.runs[name, kernels] = files | self.timed(plain, name, kernels, 30.0)
                elif (found.get("of") == mine and "skips" in found) or (only and found):
                    self.runs[name, kernels] = found
                elif not only:
                    todo.append((name, kernels, known, mine))
        if todo:
            flags = "-DCMAKE_C_FLAGS=-w --coverage -fprofile-filter-files=.*/core/.*"
            counting = Tree("counting", "-DBLOOMFILTER_COVERAGE=single", flags)
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                list(pool.map(lambda one: self.learn(plain, counting, *one), todo))
        self.prepare()

    def timed(self, plain, name, kernels, longest):
        most, began = round(longest) + 1, time.monotonic()
        code, took, skips = plain.run(f"tests/{name}", kernels, most, 20 * most)
        return {"cpu": took, "clock": time.monotonic() - began, "code": code, "skips": skips}

    def learn(self, plain, counting, name, kernels, known, mine):
        found = self.timed(plain, name, kernels, self.longest) | {
            "of": mine,
            "files": {},
            "objects": {},
        }
        code, took, most = found["code"], found["cpu"], round(self.longest) + 1
        if code == 0 and took <= self.longest:
            data = self.kept / f"data-{name}-{kernels}"
            shutil.rmtree(data, ignore_errors=True)
            counting.run(f"tests/{name}", kernels, 20 * most, 60 * most, GCOV_PREFIX=str(data))
            found["files"], found["objects"] = lines_reached(counting, data)
            shutil.rmtree(data, ignore_errors=True)
        else:
            print(
                f"{name} {kernels}: left out, {took:.1f} s, ended with {code} without a change",
                flush=True,
            )
        self.runs[name, kernels] = found
        known.write_text(json.dumps(found))

    def prepare(self):
        """What is known of a file's lines and functions, over all programs."""
        self.functions = collections.defaultdict(dict)  # file -> first line -> last line
        self.lines = collections.defaultdict(set)  # file -> lines that gcov knows
        self.objects = collections.defaultdict(set)  # header -> sources that use what is in it
        for found in self.runs.values():
            for path, of in found["files"].items():
                self.functions[path].update({int(a): b for a, b in of["functions"].items()})
                self.lines[path].update(of["known"])
            for path, of in found["objects"].items():
                self.objects[path].update(of)

    def programs(self, path, line):
        """The programs that run a line, with what they take: (cpu, clock, name, kernels, skips).  Where
        gcov knows no such line, those that enter the function; outside of functions all."""
        path, function = str(path), self.function_at(str(path), line)
        for (name, kernels), found in self.runs.items():
            if name not in self.only if self.only else found["cpu"] > self.longest:
                continue
            if found["code"] != 0:
                continue
            if kernels and not self.only and not path.startswith(KERNELS):
                continue
            of = found["files"].get(path, {"reached": []})
            if line in self.lines[path]:
                reaches = line in of["reached"]
            elif function:
                reaches = any(function[0] <= one <= function[1] for one in of["reached"])
            else:
                reaches = True
            if reaches or not found["files"]:
                yield found["cpu"], found["clock"], name, kernels, found["skips"]

    def function_at(self, path, line):
        starts = sorted(self.functions[path])
        at = bisect.bisect_right(starts, line) - 1
        if at < 0 or self.functions[path][starts[at]] < line:
            return None
        return starts[at], self.functions[path][starts[at]]


def lines_reached(tree, data):
    """File -> what gcov knows of it, and header -> sources whose objects ran it."""
    files, objects = {}, collections.defaultdict(set)
    counted = sorted(data.rglob("*.gcda"))
    for one in counted:
        notes = Path("/") / one.relative_to(data).with_suffix(".gcno")
        shutil.copy(notes, one.with_suffix(".gcno"))
    if not counted:
        return {}, {}
    said = subprocess.run(
        ["gcov", "--json-format", "--stdout", *counted], capture_output=True, text=True, check=False
    ).stdout
    core = re.compile(r".*/(core/.*)")
    for text in said.splitlines():
        of_object = json.loads(text)
        source = core.match(of_object["data_file"].replace(".gcda", ""))
        for one in of_object["files"]:
            path = core.match(one["file"])
            if not path:
                continue
            mine = files.setdefault(path[1], {"reached": set(), "known": set(), "functions": {}})
            mine["known"].update(line["line_number"] for line in one["lines"])
            ran = {line["line_number"] for line in one["lines"] if line["count"]}
            mine["reached"] |= ran
            mine["functions"].update({f["start_line"]: f["end_line"] for f in one["functions"]})
            if ran and source and path[1].endswith(".h"):
                objects[path[1]].add(source[1])
    for of in files.values():
        of["reached"], of["known"] = sorted(of["reached"]), sorted(of["known"])
    return files, {path: sorted(of) for path, of in objects.items()}
