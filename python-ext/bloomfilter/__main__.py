"""The command line: the program `bloomfilter`, and python -m bloomfilter.  Ctrl-C also ends it without
a traceback while the command's modules are imported."""

import sys


def main() -> int:
    try:
        from .cli import main as run

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
