"""Which PHP runs, with the extension or the polyfill, and what Debian's frameworks need of it."""

import products
import pytest

LOADS = [
    option for name in ("mbstring", "ctype", "tokenizer") for option in ("-d", f"extension={name}")
]


@pytest.fixture(params=["extension", "polyfill"])
def php(request):
    command = products.php_command()
    return [*(command if request.param == "extension" else command[:2]), *LOADS]
