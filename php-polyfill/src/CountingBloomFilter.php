<?php

use Bloomfilter\Polyfill\{Bits, Filter};

/** 4-bit counters in the place of bits: keys can be removed and counted. */
class CountingBloomFilter extends BloomFilter
{
    public function remove($key): bool
    {
        $key = $this->_text($key, __FUNCTION__, self::class);
        return $this->_opened()->removeMany([$key])[0];
    }

    public function removeMany(Traversable|array $keys): int { return $this->_sum($keys, 'remove', __FUNCTION__, self::class); }

    public function countOf($key): int
    {
        $key = $this->_text($key, __FUNCTION__, self::class);
        return $this->_opened()->countMany([$key])[0];
    }

    public function toPlain(): BloomFilter
    {
        $f = $this->_opened();
        $plain = clone $f->d;
        $plain->counting = false;
        $bits = Filter::memory($plain, $f->secret);
        $bits->parts[0]->store->replace(Bits::ofCounters($f->bits('be converted')));
        return BloomFilter::_wrap($bits);
    }
}
