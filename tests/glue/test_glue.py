"""php-glue/ with Debian's packages, and the code of docs/frameworks.md: with the extension and with
the polyfill."""

import os
from pathlib import Path

import documents
from products import run

HERE = Path(__file__).resolve().parent
PAGE = "docs/frameworks.md"
CACHES, SYMFONY, CONFIG, RULES = documents.blocks(PAGE, "php")
(YAML,) = documents.blocks(PAGE, "yaml")


def says_end(php, script, *arguments, **env):
    said = run(
        [*php, "-d", "error_reporting=8191", HERE / script, *arguments],
        env=os.environ | env,
        text=True,
    )
    assert said == "end\n"


def has_files(php):
    return any("bloomfilter.so" in option for option in php)


def without_file(config):
    changed = config.replace("            'storage' => storage_path('users.bloom'),\n", "")
    assert changed != config
    return changed


def test_caches(php, tmp_path):
    checked = documents.php_with_checks(CACHES)
    (tmp_path / "page.php").write_text(checked)
    assert checked.count("check(") == 4
    says_end(php, "caches.php", tmp_path / "page.php")


def test_pleonasm(php):
    says_end(php, "pleonasm.php")


def test_symfony(php, tmp_path):
    (tmp_path / "bloom.yaml").write_text(YAML.replace("/var/lib/app/", f"{tmp_path}/var/"))
    (tmp_path / "users.php").write_text(SYMFONY)
    # the polyfill makes no file by its constructor
    made = {} if has_files(php) else {"MADE": "1"}
    says_end(php, "symfony.php", tmp_path, tmp_path / "bloom.yaml", tmp_path / "users.php", **made)


def test_laravel(php, tmp_path):
    (tmp_path / "config.php").write_text(CONFIG if has_files(php) else without_file(CONFIG))
    (tmp_path / "rules.php").write_text(RULES)
    says_end(php, "laravel.php", tmp_path, tmp_path / "config.php", tmp_path / "rules.php")
