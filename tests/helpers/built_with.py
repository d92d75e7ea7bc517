"""Which optional libraries is this build of bloomfilter made with?  python built_with.py
[LIBRARY...] fails where one is missing.

Asks as a user would notice: by what is refused."""

import sys

from bloomfilter import BloomFilter, Error


def refusal(**arguments):
    """The words of an Error, or nothing.  No server listens on port 1: a build with OpenSSL fails
    with an OSError."""
    try:
        BloomFilter(1000, 100, **arguments)
    except Error as error:
        return str(error)
    except OSError:
        pass
    return ""


def built_with():
    asked = {
        "libsodium": {"secret": bytes(16)},
        "OpenSSL": {"storage": "rediss://127.0.0.1:1/0?key=x"},
    }
    refusals = {library: refusal(**arguments) for library, arguments in asked.items()}
    assert all(not text or library in text for library, text in refusals.items()), refusals
    return [library for library, text in refusals.items() if not text]


if __name__ == "__main__":
    here = built_with()
    print(*here)
    sys.exit(
        " ".join(f"built without {library}" for library in sys.argv[1:] if library not in here)
        or None
    )
