"""What needs a network is marked live.  The PHP class needs none."""

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == HERE and "[php-" not in item.name:
            item.add_marker(pytest.mark.live)
