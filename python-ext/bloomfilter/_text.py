"""repr() of a filter, and hints for users of other packages.

The C type calls this module.
"""

from __future__ import annotations

from typing import Any

from ._bloomfilter import BloomFilter

# names that other packages use for n and p
OTHER_NAMES = {
    "capacity": "n",
    "max_elements": "n",
    "expected_items": "n",
    "error_rate": "p",
    "false_positive_rate": "p",
    "fpr": "p",
}


def represent(bf: BloomFilter, shown: str | None) -> str:
    """Returns repr(bf).  shown: the storage without passwords, or None."""
    name = type(bf).__name__
    try:
        text = f"m={bf.m}, n={bf.n}, k={bf.k}, p={bf.p!r}, scheme={bf.scheme!r}"
        if bf.grow is not None:
            text += f", grow={bf.grow:g}"
        if bf.window is not None:
            text += f", window={bf.window:g}, parts={bf.parts}"
        if shown is not None:
            text += f", storage={shown!r}"
    except ValueError:
        return f"<{name}, closed>"
    return f"{name}({text})"


def hint(name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> str | None:
    """If a constructor got arguments of another package, such as (capacity, error_rate), returns
    what to write instead; else None."""
    given = {
        OTHER_NAMES[one]: (one, value)
        for one, value in (kwargs or {}).items()
        if one in OTHER_NAMES
    }
    if len(args) == 2 and type(args[1]) is float:
        n, p = args
        if 0 < p < 1:
            return f"n must be an int, not float: for {n!r} keys at the rate {p!r} write {name}(n={n!r}, p={p!r})"
    elif given:
        wrong = f"'{given['p' if 'p' in given else 'n'][0]}' is an invalid keyword argument: write {name}"
        if len(given) == 2:
            return f"{wrong}(n={given['n'][1]!r}, p={given['p'][1]!r})"
        ((letter, (_, value)),) = given.items()
        return f"{wrong}(n=number of keys, p=rate), here {letter}={value!r}"
    return None
