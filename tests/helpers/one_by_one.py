"""What must hold of every batch, whatever its keys come in: the answers of its keys, added and asked
one by one.  Holds no test."""

from bloomfilter import BloomFilter


def check(make, keys, **nulls):
    """make() gives a batch of these keys, each time anew; nulls="skip": None among them is left out."""
    one, bf, again = (BloomFilter(n=10_000, p=0.001) for _ in range(3))
    there = bytes(key is not None for key in keys)
    new = bytes(key is not None and one.add(key) for key in keys)
    assert bf.contains_many(make(), **nulls) == bytes(len(there))
    assert bf.add_many(make(), **nulls) == new and bf == one
    assert bf.contains_many(make(), **nulls) == bytes(bf.contains_mask(make(), **nulls)) == there
    assert bf.update(make(), **nulls) == 0
    assert again.update(make(), **nulls) == sum(new) and again == one
    again.clear()
    assert bytes(again.add_mask(make(), **nulls)) == new and again == one
