"""Classes with the names and arguments of other packages: a program changes its import line.

    from bloomfilter.compat.pybloom_live import BloomFilter, ScalableBloomFilter
    from bloomfilter.compat.rbloom import Bloom
    from bloomfilter.compat.pybloomfilter import BloomFilter    # pybloomfiltermmap3
    from bloomfilter.compat.bloom_filter2 import BloomFilter

Each is a subclass of bloomfilter.BloomFilter.
docs/howto-move.md has examples, and lists what differs from the other packages."""
