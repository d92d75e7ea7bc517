"""bloomfilter.spark where there is no Spark."""


def test_without_spark(run_python):
    code = """
import sys
sys.modules["pyspark"] = None
try: import bloomfilter.spark
except ImportError as error: print(error)
"""
    assert "bloomfilter.spark needs pyspark, pyarrow and pandas: pip install" in run_python(code)
