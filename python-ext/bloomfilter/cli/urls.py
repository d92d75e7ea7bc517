"""Generated URLs, always the same for one seed: the keys of a study if the user has none."""

from __future__ import annotations

from random import Random

CLASSIC = 30_558  # different URLs, as in the classic study
HOSTS = ["www", "blog", "shop", "news", "wiki", "forum", "docs", "img", "api", "m"]
SITES = [
    "example.com",
    "example.org",
    "example.net",
    "test.example",
    "site.example",
    "store.example",
]
WORDS = """
archive article author book category comment cover date edition entry event feed file film gallery guide home index issue item key
link list map member music note order page part photo post product profile question review route search section series story tag
team thread title topic user video view week work year zone
""".split()  # noqa: SIM905


def url(random: Random) -> str:
    pick = random.random  # the only draw whose sequence Python promises
    path = "/".join(WORDS[int(pick() * len(WORDS))] for _ in range(1 + int(pick() * 3)))
    end = ("", ".html", f"?id={int(pick() * 100_000)}", f"/{int(pick() * 1_000_000)}")[
        int(pick() * 4)
    ]
    return (
        f"https://{HOSTS[int(pick() * len(HOSTS))]}.{SITES[int(pick() * len(SITES))]}/{path}{end}"
    )


def made(number: int = CLASSIC, seed: int = 0) -> list[bytes]:
    random = Random(seed)
    found: dict[bytes, None] = {}
    while len(found) < number:
        found[url(random).encode()] = None
    return list(found)
