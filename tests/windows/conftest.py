"""What needs Wine is collected by scripts/machines windows alone."""

import os

collect_ignore = [] if "BLOOMFILTER_WINDOWS" in os.environ else ["test_beside_linux.py"]
