#!/usr/bin/env python3
"""versions.py - what scripts/release needs beside building: every place that names the version, in the
form of its ecosystem; the changelog; the list of parts (SBOM).  Knows files, runs no compiler.

  versions.py current              the version, BF_VERSION
  versions.py form NAME VERSION    the same version for python, php, debian or cmake
  versions.py set VERSION DATE     writes it everywhere and moves [Unreleased]; DATE is YYYY-MM-DD
  versions.py check OLD            fails where a tracked file still names OLD
  versions.py sbom FOLDER          CycloneDX JSON in FOLDER: the project and its libraries
  versions.py recipes FOLDER URL   the recipes of conda and Homebrew with the archive's address and sum"""

import hashlib
import json
import re
import subprocess
import sys
from datetime import date, datetime, timezone
from email.utils import format_datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NUMBER = "(0|[1-9][0-9]*)"
VERSION = re.compile(rf"{NUMBER}\.{NUMBER}\.{NUMBER}(?:-rc([1-9][0-9]*))?")
FORMS = {
    "semver": lambda version: version,
    "python": lambda version: version.replace("-", ""),
    "php": lambda version: version.replace("-", "").upper(),
    "debian": lambda version: version.replace("-", "~"),
    "cmake": lambda version: version.split("-")[0],
}
# A file, what stands before and behind the version, its form.  Everything else takes it from the
# first row when it is built; package.xml is made by scripts/gen-package.
PLACES = [
    ("core/bloomfilter.h", '#define BF_VERSION "', '"', "semver"),
    ("php-ext/php_bloomfilter.h", '#define PHP_BLOOMFILTER_VERSION "', '"', "php"),
    ("docs/api-c.md", '#define BF_VERSION "', '"', "semver"),
    ("docs/man/bloomfilter.1", '.TH BLOOMFILTER "1" "" "bloomfilter ', '"', "python"),
    ("packaging/conda/meta.yaml", '{% set version = "', '" %}', "semver"),
    ("packaging/homebrew/bloomfilter.rb", 'version "', '"', "semver"),
]
# What may name an older version: history, and files that an older version wrote.
HISTORY = re.compile(
    r"docs/(stability|tested)\.md|CHANGELOG\.md|debian/changelog|package\.xml|tests/data/.*|tests/c/.*"
)
# Name, package-url, pkg-config's name, how it gets into which product.
LIBRARIES = [
    ("xxHash", "BSD-2-Clause", "libxxhash", "its header is compiled into every product"),
    ("libsodium", "ISC", "libsodium", "linked; filters with a secret"),
    ("OpenSSL", "Apache-2.0", "openssl", "loaded by the first rediss://, if installed"),
    ("llhttp", "MIT", "libllhttp", "compiled into bloomfilterd, or linked"),
]


def current():
    return re.search(r'#define BF_VERSION "(.+)"', (ROOT / "core" / "bloomfilter.h").read_text())[1]


def in_order(version):
    """A candidate comes before its version."""
    found = VERSION.fullmatch(version)
    if not found:
        sys.exit(f"release: a version is 1.2.3 or 1.2.3-rc4, got {version}")
    number = tuple(int(part) for part in found.groups()[:3])
    return (*number, found[4] is None, int(found[4] or 0))


def replace(name, old, new):
    """Exactly one line has it, or the place has moved and PLACES is wrong."""
    path = ROOT / name
    text, count = re.subn(old, lambda _: new, path.read_text(encoding="utf-8"), flags=re.M)
    if count != 1:
        sys.exit(f"release: {name} has {count} lines like {old}, and must have one")
    path.write_text(text, encoding="utf-8")


def set_version(version, day):
    if in_order(version) <= in_order(current()):
        sys.exit(f"release: {version} does not come after {current()}")
    date.fromisoformat(day)
    changed = re.search(
        r"(?ms)^## \[Unreleased\]\n(.*?)(?=^## |\Z)", (ROOT / "CHANGELOG.md").read_text()
    )
    if not changed or not re.search(r"(?m)^- ", changed[1]):
        sys.exit(
            "release: CHANGELOG.md has no entry below [Unreleased]: write what the version changes"
        )
    for name, before, behind, form in PLACES:
        new = before + FORMS[form](version) + behind
        replace(name, rf"{re.escape(before)}[^\"]*{re.escape(behind)}", new)
    replace("CHANGELOG.md", r"^## \[Unreleased\]\n", f"## [Unreleased]\n\n## [{version}] - {day}\n")
    debian = ROOT / "debian" / "changelog"
    maintainer = re.search(r"(?m)^Maintainer: (.*)$", (ROOT / "debian" / "control").read_text())[1]
    when = format_datetime(datetime.fromisoformat(day).replace(tzinfo=timezone.utc))
    debian.write_text(
        f"bloomfilter ({FORMS['debian'](version)}-1) unstable; urgency=medium\n\n"
        f"  * Version {version}: see CHANGELOG.md.\n\n -- {maintainer}  {when}\n\n"
        + debian.read_text()
    )


def check(old):
    """No tracked file names the version that was."""
    spelled = sorted({form(old) for name, form in FORMS.items() if name != "cmake"})
    pattern = re.compile(rf"(?<![\d.])(?:{'|'.join(map(re.escape, spelled))})(?![\d.]*\d)")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in listed.rstrip("\0").split("\0"):
        if HISTORY.fullmatch(name) or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        if found := pattern.search(text):
            line = text.count("\n", 0, found.start()) + 1
            sys.exit(
                f"release: {name}:{line} still names {found[0]}: add it to PLACES of scripts/versions.py"
            )


def sum_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def library_version(package):
    found = subprocess.run(
        ["pkg-config", "--modversion", package], capture_output=True, text=True, check=False
    )
    return {"version": found.stdout.strip()} if found.returncode == 0 else {}


def sbom(folder):
    version = current()
    project = {"type": "library", "bom-ref": "bloomfilter", "name": "bloomfilter"}
    project |= {"version": version, "licenses": [{"license": {"id": "MIT"}}]}
    libraries = [
        {"type": "library", "bom-ref": name, "name": name, "description": use}
        | library_version(package)
        | {"licenses": [{"license": {"id": license}}]}
        for name, license, package, use in LIBRARIES
    ]
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1}
    bom |= {"metadata": {"component": project}, "components": libraries}
    bom["dependencies"] = [
        {"ref": "bloomfilter", "dependsOn": [one["bom-ref"] for one in libraries]}
    ]
    Path(folder, f"bloomfilter-{version}.cdx.json").write_text(json.dumps(bom, indent=2) + "\n")


def recipes(folder, url):
    version = current()
    archive = Path(folder, f"bloomfilter-{version}.tar.gz")
    for name in ("packaging/conda/meta.yaml", "packaging/homebrew/bloomfilter.rb"):
        text = (ROOT / name).read_text().replace("0" * 64, sum_of(archive))
        text = text.replace("https://bloomfilter.invalid/releases", url)
        Path(folder, Path(name).name).write_text(text)


def main(command, *arguments):
    if command == "form":
        in_order(arguments[1])
        print(FORMS[arguments[0]](arguments[1]))
    elif command == "current":
        print(current())
    else:
        commands = {"set": set_version, "check": check, "sbom": sbom, "recipes": recipes}
        commands[command](*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
