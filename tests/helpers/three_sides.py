"""The same cases and keys given to programs in C, PHP and Python: tests/cross/side.*."""

from products import run


def tab_separated(cases):
    """Dicts with a name and what the constructor is given, as lines for the sides."""
    names = ["name", "home", "scheme", "m", "n", "k", "p", "secret"]
    return "".join("\t".join(str(case.get(name, "-")) for name in names) + "\n" for case in cases)


def packed(keys):
    """(kind, bytes) pairs as records for the sides."""
    return b"".join(kind.encode() + len(data).to_bytes(4, "little") + data for kind, data in keys)


def by_case(text):
    """What a side printed: case name -> its lines."""
    return {part.split("\n", 1)[0]: part.splitlines()[1:] for part in text.split("case ")[1:]}


def run_sides(sides, what, cases, keys, folder):
    """Side -> case -> lines."""
    (folder / "cases").write_text(tab_separated(cases))
    (folder / "keys").write_bytes(packed(keys))
    return {
        side: by_case(run([*command, what, folder / "cases", folder / "keys", folder], text=True))
        for side, command in sides.items()
    }
