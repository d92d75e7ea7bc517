"""Counting filters across the languages: one file, the same counters; and the examples and code
blocks about them."""

import base64
import re
import subprocess
import sys

from products import ROOT
from documents import blocks

from bloomfilter import CountingBloomFilter

TALK = "+ann\n+bob\n-ann\n?ann\n?bob\n-eve\n"
ANSWERS = "ann: no\nbob: yes\neve was not here\n"


def test_the_examples_answer_alike(php, tmp_path):
    run = {"input": TALK, "capture_output": True, "text": True, "check": True}
    path = tmp_path / "online.bloom"
    assert subprocess.run([sys.executable, ROOT / "examples/online.py"], **run).stdout == ANSWERS
    assert subprocess.run([*php, ROOT / "examples/online.php", path], **run).stdout == ANSWERS
    with CountingBloomFilter(n=100_000, p=0.01, storage=path) as online:
        assert online.count_of("bob") == 1 and online.count_of("ann") == 0 and online.remove("bob")
    again = {**run, "input": "?bob\n"}
    assert subprocess.run([*php, ROOT / "examples/online.php", path], **again).stdout == "bob: no\n"


def test_php_and_python_count_the_same(php):
    code = """$f = new CountingBloomFilter(n: 500, p: 0.01, scheme: '%s'); for ($i = 0; $i < 900; $i++) $f->add($i %% 400);
              for ($i = 0; $i < 300; $i += 2) $f->remove($i); echo base64_encode($f->toBytes());"""
    for scheme in ("classic", "block", "block2"):
        bf = CountingBloomFilter(n=500, p=0.01, scheme=scheme)
        bf.update(i % 400 for i in range(900))
        bf.remove_many(range(0, 300, 2))
        done = subprocess.run([*php, "-r", code % scheme], capture_output=True, check=True)
        assert CountingBloomFilter.from_bytes(base64.b64decode(done.stdout)) == bf


def test_the_documents_code(php):
    (python,) = blocks("docs/counting.md", "python")
    checked = re.sub(
        r"^(\S.*?)\s+# (True|False|\d+)\b.*$", r"assert (\1) == \2", python, flags=re.M
    )
    assert checked.count("assert (") == 5
    exec(checked, {})
    (text,) = blocks("docs/counting.md", "php")
    checked = re.sub(
        r"^(\$.*?);\s+// (true|false|\d+)\b.*$", r"if (\1 !== \2) exit(1);", text, flags=re.M
    )
    assert checked.count("exit(1)") == 3
    subprocess.run([*php, "-r", checked], check=True)
