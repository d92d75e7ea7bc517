<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\Fault;

/** An error reply. */
final class Refusal
{
    public function __construct(public string $text) {}

    public function exception(string $label): \BloomFilterException
    {
        if (str_starts_with($this->text, 'DAMAGED ')) return Fault::fail(\BloomFilterException::FORMAT, '%s is damaged: %.63s', $label, substr($this->text, 8));
        $code = str_starts_with($this->text, 'WRONGTYPE') ? \BloomFilterException::FORMAT : \BloomFilterException::IO;
        return Fault::fail($code, '%s: %.71s', $label, $this->text);
    }
}
