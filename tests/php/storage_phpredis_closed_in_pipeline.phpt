--TEST--
A subclass of phpredis that closes its connection while commands are queued: nothing of that is sent later
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
class Closing extends Redis
{
    public int $in = 0;
    public function rawCommand($c, ...$a): mixed
    {
        $answer = parent::rawCommand($c, ...$a);
        if ($this->in > 0 && --$this->in === 0) $this->close();
        return $answer;
    }
}
class ClosingAtEnd extends Closing
{
    public function exec(): Redis|array|false { if ($this->in === -1 && !($this->in = 0)) $this->close(); return parent::exec(); }
}
foreach (['Closing' => [1, 2, 3], 'ClosingAtEnd' => [1, -1]] as $class => $places) {
    foreach ($places as $place) {
        $r = new $class;
        $r->connect('127.0.0.1', $server->port, 5);
        $f = new BloomFilter(n: 1000, p: 1e-6, storage: $r, key: "f$class$place");
        $g = new BloomFilter(n: 1000, p: 1e-6, storage: $r, key: "g$class$place");
        $f->addMany(urls(200));
        $g->addMany(urls(200, 'g'));
        $r->in = $place;
        try { $f->existMany(urls(200)); } catch (BloomFilterException) {}
        $r->in = 0;
        foreach (urls(20) as $i => $url) same([true, false, true], [$f->exists($url), $f->exists("no $i"), $g->exists(urls(20, 'g')[$i])], "$class $place");
        same([true, false, true], $f->existMany([urls(1)[0], 'no', urls(2)[1]]), "$class $place");
        same([true, false], $g->existMany([urls(1, 'g')[0], 'no']), "$class $place");
        same(200, count(array_filter($f->existMany(urls(200)))), "$class $place");
    }
}
--EXPECT--
