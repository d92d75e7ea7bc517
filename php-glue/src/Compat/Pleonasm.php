<?php
namespace Bloomfilter\Glue\Compat;

/**
 * The methods of pleonasm/bloom-filter: `use Bloomfilter\Glue\Compat\Pleonasm as BloomFilter;`.
 *
 * add() returns nothing, as there. What differs: init() creates a filter of this library, whose JSON only this library reads. initFromJson() reads that and
 * the JSON of pleonasm/bloom-filter, whose hash functions it then uses; that filter is as slow as it was, needs the
 * extension, and is written as JSON of pleonasm/bloom-filter again.
 * A filter with more keys than init() was told warns. The constructor takes a filter, in a file or in Redis for example, and $filter is that filter.
 */
final class Pleonasm implements \JsonSerializable
{
    /** @param ?array{algo: string, count: int, max: int} $hashers of pleonasm's JSON */
    public function __construct(public readonly \BloomFilter $filter, private readonly ?array $hashers = null)
    {
    }

    public static function init(int $approxSize, float $falsePosProb): static
    {
        return new static(new \BloomFilter(n: $approxSize, p: $falsePosProb));
    }

    /** @param array $data what json_decode($json, true) returns */
    public static function initFromJson(array $data): static
    {
        if (!isset($data['bit_array'], $data['hashers'])) return new static(\BloomFilter::fromJson($data));
        $hashers = $data['hashers'];
        $hash = fn(int $i) => fn(string $key) => unpack('J', hash_hmac($hashers['algo'], $key, (string) $i, true))[1] & PHP_INT_MAX;
        return new static(\BloomFilter::fromBytes(base64_decode($data['bit_array']['arr']), format: 'bits-lsb', m: $data['bit_array']['len'],
            scheme: 'functions', hashes: array_map($hash, range(0, $hashers['count'] - 1))), $hashers);
    }

    public function add(string $item): void
    {
        $this->filter->add($item);
    }

    public function exists(string $item): bool
    {
        return $this->filter->exists($item);
    }

    public function jsonSerialize(): mixed
    {
        if ($this->hashers === null) return $this->filter;
        return ['bit_array' => ['len' => $this->filter->m, 'arr' => base64_encode($this->filter->toBytes(format: 'bits-lsb'))], 'hashers' => $this->hashers];
    }
}
