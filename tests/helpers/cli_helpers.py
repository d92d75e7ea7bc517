"""For the tests of the command line: running it as a user does."""

import os
import subprocess
import sys

import forked

from bloomfilter.cli import main

COMMAND = [sys.executable, "-m", "bloomfilter"]


class Done:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout or b"", done.stderr
        self.text = self.out.decode(errors="replace")


def cli(*words, data=b"", env=None, **options):
    """Runs the command with data as its standard input.  A traceback is never right, and a fault is
    one line."""
    if "stdin" not in options:
        options["input"] = data
    words = [os.fsdecode(str_or_path(word)) for word in words]
    if env or options.keys() - {
        "stdin",
        "stdout",
        "input",
    }:  # what an interpreter looks at when it starts
        env = {**os.environ, **(env or {})}
        done = subprocess.run([*COMMAND, *words], capture_output=True, timeout=120, env=env, check=False, **options)  # fmt: skip
    else:
        done = forked.run(lambda: main(words), **options)
    done = Done(done)
    assert b"Traceback" not in done.err, done.err.decode()
    if done.code == 2:
        assert (
            done.err.startswith(b"bloomfilter: ")
            and done.err.count(b"\n") == 1
            and done.err.endswith(b"\n")
        ), done.err
    return done


def str_or_path(word):
    return word if isinstance(word, (str, bytes, os.PathLike)) else str(word)


def ok(*words, **options):
    done = cli(*words, **options)
    assert (done.code, done.err) == (0, b""), (done.code, done.err)
    return done


def fails(*words, **options):
    """The one line of a fault."""
    done = cli(*words, **options)
    assert done.code == 2, (done.code, done.out, done.err)
    return done.err.decode().removeprefix("bloomfilter: ").rstrip("\n")


def started(*words):
    """The command with pipes, which go on at once."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*COMMAND, *words], bufsize=0, **pipes)
