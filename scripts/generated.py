"""generated.py - what the generators share: files are written, or compared where they are called with --check."""

import difflib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = Path(sys.argv[0]).name


def write(made):
    """made: path -> text.  With --check the differences are shown, and where there is one the generator fails."""
    old = {path: path.read_text("utf-8") if path.exists() else "" for path in made}
    stale = [path for path, text in made.items() if text != old[path]]
    if sys.argv[1:] == ["--check"]:
        for path in stale:
            both = old[path].splitlines(True), made[path].splitlines(True)
            sys.stdout.writelines(difflib.unified_diff(*both, path.name, "what it should be", n=1))
        names = " ".join(str(path.relative_to(ROOT)) for path in stale)
        sys.exit(f"{NAME}: stale: {names}: run scripts/{NAME}" if stale else 0)
    for path in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(made[path], "utf-8")
