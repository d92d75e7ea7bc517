"""docs/mapped-files.md, One writer: Python is alone with a file and writes plain words; then PHP
writes to it, too."""

import subprocess

import pytest
from bloomfilter import BloomFilter

ALONE, EVERYBODY = 3, 1  # docs/format.md: version
KEYS = 20_000
PHP = """<?php
$f = new BloomFilter(m: 1 << 20, n: 100000, k: 3, scheme: 'classic', storage: $argv[1]);
echo (int) $f->exists('same'), "\\n";
fgets(STDIN);
for ($i = 0; $i < (int) $argv[2]; $i++) $f->add("php $i");
echo "added\\n";
"""


def version(path):
    with open(path, "rb") as file:
        return file.read(9)[8]


@pytest.mark.parametrize("batches", [False, True])
def test_php_comes_while_python_adds(batches, php, tmp_path):
    path = tmp_path / "seen.bloom"
    (tmp_path / "other.php").write_text(PHP)
    f = BloomFilter(m=1 << 20, n=100_000, k=3, scheme="classic", storage=str(path))
    for _ in range(1 << 14):
        f.add("same")
    if version(path) != ALONE:
        pytest.skip("no leases, membarrier or locks of open file descriptions here")
    with subprocess.Popen(
        [*php, tmp_path / "other.php", path, str(KEYS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout.readline() == "1\n"
        assert version(path) == ALONE  # who only tests changes nothing
        other.stdin.write("\n")
        other.stdin.flush()
        keys = [f"python {i}" for i in range(KEYS)]
        for at in range(0, KEYS, 100):
            if batches:
                f.update(keys[at : at + 100])
            else:
                for key in keys[at : at + 100]:
                    f.add(key)
        assert other.stdout.readline() == "added\n"
    assert version(path) == EVERYBODY
    assert all(f.contains_many(keys + [f"php {i}" for i in range(KEYS)]))
