"""Runs one .phpt file of the extension's tests with the polyfill in its place.  Holds no test."""

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
POLYFILL = ROOT / "php-polyfill" / "autoload.php"
TESTS = ROOT / "tests" / "php"


def sections(path):
    parts = re.split(r"^--([A-Z]+)--\n", path.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def options(php, loads, ini=""):
    given = [*loads, "-d", f"auto_prepend_file={POLYFILL}", "-d", "memory_limit=-1"]
    for line in ini.splitlines():
        given += ["-d", line.strip()] if line.strip() else []
    return [php, "-n", *given]


CLIENT = """    public function client(): Redis
    {
        $client = new Redis;
        $client->connect('127.0.0.1', $this->port);
        return $client;
    }
"""


def as_here(code):
    """phpredis objects in the place of URLs, for which pure PHP makes no connection, no row of a table
    that is a forgetting filter, no child of a fork, and no stream that closes itself while PHP writes
    to it, which ends PHP's own fwrite with a segmentation fault."""
    code = re.sub(
        r"((?:storage: |open\()(?:\$redis|\$server))->url\(([^()]*)\)(?:, key: [^,)]*)?",
        r"\1->client(), key: \2",
        code,
    )
    code = code.replace(
        "function_exists('pcntl_fork')", "false"
    )  # a child needs a client of its own
    code = code.replace("@fclose($stream); ", "")
    return re.sub(r", \['n' => [^\]]*'window' => [^\]]*\]", "", code)


def copied(folder):
    """What tests include, in a folder where they may be written."""
    for name in ("php", "vectors"):
        shutil.copytree(ROOT / "tests" / name, folder / name)
    server = folder / "php" / "redis.inc"
    server.write_text(
        server.read_text().replace("    public function url(", CLIENT + "    public function url(")
    )
    return folder / "php"


def differs(path, php, loads, folder):
    """What the test printed, where that is not what it expects; else None.  folder: a copy of tests/php."""
    test = sections(path)
    quiet = "\nbloomfilter.warn=0" if "ini_set('bloomfilter.warn', '0')" in test["FILE"] else ""
    command = options(php, loads, test.get("INI", "") + quiet)
    script = folder / f"{path.stem}.php"
    script.write_text(as_here(test["FILE"]))
    env = os.environ | {
        "PHP": php,
        "TEST_PHP_EXECUTABLE": str(Path(__file__).parent / "php"),
        "TEST_PHP_EXTRA_ARGS": " ".join(command[1:]),
    }
    done = subprocess.run(
        [*command, script],
        capture_output=True,
        text=True,
        errors="replace",
        env=env,
        check=False,
        timeout=600,
    )
    said = (done.stdout + done.stderr).strip()
    if done.returncode < 0:
        return f"{said}\nsignal {-done.returncode}"
    return None if said == test["EXPECT"].strip() else said
