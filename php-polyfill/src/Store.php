<?php
namespace Bloomfilter\Polyfill;

/** Where the bits or counters of a part are.  A key is the list of its positions; answers have the order of the keys. */
interface Store
{
    /** @param list<list<int>> $keys  @return list<bool> */
    public function testMany(array $keys): array;
    /** @return list<bool> was it there before? */
    public function addMany(array $keys): array;
    /** @return list<bool> was it there, and is it counted down? */
    public function removeMany(array $keys): array;
    /** @return list<int> */
    public function countMany(array $keys): array;
    public function read(int $from, int $bytes): string;
    /** Other bits in the place of these. */
    public function replace(string $bits): void;
}
