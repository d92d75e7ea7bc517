"""Numbers in every home and message have a point, whatever locale a program speaks."""

import os
import sys
from pathlib import Path

import pytest
from products import run

HERE = Path(__file__).resolve().parent
COMMA = "de_DE.UTF-8"


@pytest.fixture(scope="module")
def speaks(tmp_path_factory):
    """The environment of programs that may call setlocale(LC_ALL, COMMA): a locale compiled here,
    none need be installed."""
    folder = tmp_path_factory.mktemp("locales")
    run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / COMMA])
    return os.environ | {"LOCPATH": str(folder)}


@pytest.fixture
def programs(php):
    return {"php": [*php, HERE / "decimals.php"], "py": [sys.executable, HERE / "decimals.py"]}


def hashes(port, prefix):
    """The companion hashes of one program's filters, without what is random."""
    dump = "local all = {} for _, k in ipairs(redis.call('KEYS', ARGV[1])) do if redis.call('TYPE', k).ok == 'hash' then local one = k:sub(#ARGV[1]) "
    dump += "local h = redis.call('HGETALL', k) for i = 1, #h, 2 do if h[i] ~= 'mark' and h[i] ~= 'by' and h[i] ~= 'born' and h[i] ~= 'owner' and h[i] ~= 'filter' then one = one .. ' ' .. h[i] .. '=' .. h[i+1] end end "
    dump += "table.insert(all, one) end end table.sort(all) return all"
    return run(["redis-cli", "-p", port, "EVAL", dump, "0", prefix + "*"], text=True).splitlines()


@pytest.mark.parametrize("language", ["php", "py"])
def test_a_decimal_comma_changes_nothing(language, programs, speaks, redis_port):
    def numbers(locale, own, other):
        urls = [
            f"redis://127.0.0.1:{redis_port}/0?key={{{language}-{one}}}" for one in (own, other)
        ]
        return (
            run([*programs[language], locale, *urls], env=speaks, text=True)
            .replace("comma}", "point}")
            .splitlines()
        )

    plain = numbers("C", "point", "point")
    assert (
        plain.count("plain [0.0125,true,0.0,0.0]") == 2
        and "0.5" in plain[-4]
        and "1.5" in plain[-2]
    )
    assert numbers(COMMA, "comma", "point") == numbers("C", "point", "comma") == plain
    point, comma = (hashes(redis_port, f"{{{language}-{one}}}") for one in ("point", "comma"))
    assert len(point) == 4 and point == comma
