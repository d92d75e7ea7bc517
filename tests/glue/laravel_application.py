"""A whole Laravel with php-glue/, which Debian has from release 13 on: run by its file name, in scripts/machines debian13."""

from products import ROOT
from test_glue import CONFIG, RULES, has_files, says_end, without_file

# What artisan's output needs.
LOADS = [option for name in ("dom", "xml", "intl") for option in ("-d", f"extension={name}")]


def test_application(php, tmp_path):
    folder = tmp_path / "application"
    folder.mkdir()
    (tmp_path / "config.php").write_text(CONFIG if has_files(php) else without_file(CONFIG))
    (tmp_path / "rules.php").write_text(RULES)
    says_end(
        [*php, *LOADS],
        "laravel_application.php",
        folder,
        tmp_path / "config.php",
        tmp_path / "rules.php",
        ROOT / "php-glue",
    )
