--TEST--
A subclass keeps its own properties over serialize
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Labelled extends BloomFilter { public $label; private $hidden = 1; protected ?Labelled $next = null;
    public function set($l, $h, $n) { $this->label = $l; $this->hidden = $h; $this->next = $n; return $this; }
    public function get() { return [$this->label, $this->hidden, $this->next?->label]; } }
$inner = (new Labelled(1000, 10))->set('inner', 3, null);
$f = (new Labelled(1000, 10))->set('outer', 2, $inner);
$f->add('x');
$g = unserialize(serialize($f));
same(['Labelled', ['outer', 2, 'inner'], true], [get_class($g), $g->get(), $g->exists('x')]);
--EXPECT--
