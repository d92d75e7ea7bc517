--TEST--
clone, ==, properties and functions that compare: what a client or clock throws reaches the catch of the function that used the operator
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
class R extends Redis
{
    public static int $faults = 0;
    public function getMode(): int { if (self::$faults > 0) { self::$faults--; throw new LogicException('mine'); } return parent::getMode(); }
}
$client = new R;
$client->connect('127.0.0.1', $server->port, 5);
$f = new BloomFilter(n: 1000, p: 0.01, storage: $client, key: 'f');
$f->add('a');
$twin = clone $f;

/* The locals of the function stay as they were, and its own catch gets the exception. */
function use_operator(string $operator, BloomFilter $f, BloomFilter $twin): string
{
    $before = 'kept';
    try {
        $result = match ($operator) {
            'clone' => clone $f, '==' => $f == $twin, '!=' => $twin != $f, 'bitset' => $f->bitset, 'empty' => empty($f->bitset), 'count' => count($f), 'in_array' => in_array($f, [$twin]),
            'array' => [$f, 1] == [$twin, 1], 'switch' => (function () use ($f, $twin) { switch ($f) { case $twin: return 1; } return 2; })(),
        };
    } catch (BloomFilterException | LogicException $e) {
        return "$before: " . ($e->getPrevious() ?? $e)->getMessage();
    }
    return "$before: " . get_debug_type($result);
}
foreach (['clone', '==', '!=', 'bitset', 'empty', 'count', 'in_array', 'array', 'switch'] as $operator)
    for ($faults = 0; $faults < 5; $faults++) {
        R::$faults = $faults;
        $said = use_operator($operator, $f, $twin);
        same(true, $faults > 2 ? $said === 'kept: mine' : str_starts_with($said, 'kept: '), "$operator with $faults faults: $said");
        R::$faults = 0;
        same(true, $f->exists('a'));
    }

/* Functions that compare on after an exception give the exception, and no answer. */
$thrown = null;
$clock = fn() => $GLOBALS['thrown'] === null ? 1e9 : throw new DomainException('no time ' . ++$GLOBALS['thrown']);
$filters = [];
for ($i = 0; $i < 5; $i++) $filters[] = new BloomFilter(n: 100, p: 0.01, window: 60, clock: $clock);
foreach ([fn() => array_keys($filters, $filters[4]), fn() => array_unique($filters, SORT_REGULAR), fn() => array_search(clone $filters[0], $filters), fn() => $filters == array_reverse($filters),
          fn() => in_array($filters[3], $filters), fn() => array_keys(['1', ...$filters, null], $filters[4])] as $call) {
    $thrown = null;
    $call();
    $thrown = 0;
    refused('DomainException', 'no time 1', $call);
    same(1, $thrown);
}

/* The trace names the operator, and the line of the function that used it. */
$thrown = 0;
try {
    $equal = $filters[0] == $filters[1];
} catch (DomainException $e) {
    same([__LINE__ - 2, 'BloomFilter', '{operator}'], [$e->getTrace()[1]['line'], $e->getTrace()[1]['class'], $e->getTrace()[1]['function']]);
}
--EXPECT--
