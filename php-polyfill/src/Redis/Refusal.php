<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\Fault;

/** An error reply. */
final class Refusal
{
    public function __construct(public string $text) {}

    public function exception(string $label): \BloomFilterException
    {
        $code = str_starts_with($this->text, 'WRONGTYPE') ? \BloomFilterException::FORMAT : \BloomFilterException::IO;
        return Fault::fail($code, '%s: %.71s', $label, $this->text);
    }
}
