<?php
namespace Bloomfilter\Polyfill;

/** A filter bound to a file: parts that another process appended are looked for before an answer is "absent". */
final class FileFilter extends Filter
{
    public \Closure $read;
    /** @var resource */
    public $handle;

    public function isCurrent(): bool
    {
        clearstatcache(true, $this->storage);
        $now = Fault::quietly(stat(...), $this->storage);
        return $now && array_intersect_key($now, ['dev' => 1, 'ino' => 1]) == array_intersect_key(fstat($this->handle), ['dev' => 1, 'ino' => 1]);
    }

    public function follow(): void
    {
        if ($this->d->kind !== Params::GROW) return;
        Signals::held(function () {
            $read = $this->read;
            $count = Image::partsIn($read(2080, 8));
            while (count($this->parts) < $count) {
                $at = 4096 + array_sum(array_map(fn(Part $part) => 4096 + $part->d->bytes(), $this->parts));
                [$d] = Image::part($this->d, count($this->parts), $read, $at, fstat($this->handle)['size'], true, $this->where(), true);
                $this->append(new Part($d, new File($this->handle, $d, $at + 4096, $this->where()), $this->secret));
            }
        });
    }
}
