"""The modules of frameworks where their framework is missing."""

import pytest

NEEDS = {
    "django": ("django", "needs Django: pip install django"),
    "flask": ("flask", "needs Flask: pip install flask"),
    "scrapy": ("scrapy", "needs Scrapy: pip install"),
    "spark": ("pandas", "needs pyspark, pyarrow and pandas: pip install"),
}


@pytest.mark.parametrize("name", NEEDS)
def test_without_the_framework(name, run_python):
    framework, says = NEEDS[name]
    code = f"""
import sys
sys.modules[{framework!r}] = None
try: import bloomfilter.{name}
except ImportError as error: print(error)
"""
    assert f"bloomfilter.{name} {says}" in run_python(code)
