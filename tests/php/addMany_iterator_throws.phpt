--TEST--
Exceptions of each of an iterator's methods go through
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Steps implements Iterator
{
    private int $i = 0;
    public function __construct(private string $bad) {}
    private function at(string $name): void { if ($name === $this->bad && ($this->i === 2 || $name === 'rewind')) throw new LogicException("in $name"); }
    public function rewind(): void { $this->at('rewind'); }
    public function valid(): bool { $this->at('valid'); return $this->i < 5; }
    public function current(): mixed { $this->at('current'); return "step$this->i"; }
    public function key(): mixed { $this->at('key'); return $this->i; }
    public function next(): void { $this->i++; $this->at('next'); }
}
foreach (['rewind' => 0, 'valid' => 2, 'current' => 2, 'next' => 2] as $method => $added) {
    $f = new BloomFilter(n: 1000, p: 1e-6);
    refused('LogicException', "in $method", fn() => $f->addMany(new Steps($method)));
    same($added, count(array_filter($f->existMany(['step0', 'step1', 'step2', 'step3', 'step4']))), $method);
}
same(5, (new BloomFilter(n: 1000, p: 1e-6))->addMany(new Steps('none')));
--EXPECT--
