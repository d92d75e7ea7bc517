<?php

use Bloomfilter\Polyfill\{Bits, Filter, Memory, Part, Signals};

/** 4-bit counters in the place of bits: keys can be removed and counted. */
class CountingBloomFilter extends BloomFilter
{
    public function remove($key): bool
    {
        $key = $this->_text($key, __FUNCTION__, self::class);
        return $this->_opened()->remove($key);
    }

    public function removeMany(Traversable|array $keys): int { return $this->_sum($keys, 'remove', __FUNCTION__, self::class); }

    public function countOf($key): int
    {
        $key = $this->_text($key, __FUNCTION__, self::class);
        return $this->_opened()->countOf($key);
    }

    public function toPlain(): BloomFilter
    {
        return Signals::held(function () {
            $f = $this->_opened();
            $f->follow();
            $plain = Filter::shell($f->d->plain(), $f->secret);
            foreach ($f->parts as $part) {
                $memory = new Memory($d = $part->d->plain());
                $memory->replace(Bits::ofCounters($part->bits()));
                $plain->append(new Part($d, $memory, $f->secret));
            }
            return BloomFilter::_wrap($plain);
        });
    }
}
