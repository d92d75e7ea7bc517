<?php
namespace Bloomfilter\Glue;

/**
 * A filter in front of an authority (a database) that has the filter's keys.
 *
 * Mode 'trust': a key that the filter calls absent is not looked up. Mode 'shadow': every key is looked up, and the answers are compared, so that you see
 * before you trust. An exception of the filter means "perhaps present" with fail 'open', so the authority is asked; "absent" with fail 'closed', so the
 * authority is spared.
 *
 * A filter that is empty, or that this process has created, knows no keys: it counts as failed until rebuild() has filled it. A program that fills it by
 * other means calls trust() after that, or passes trust: true.
 */
final class Gate
{
    /** Counts of this object: keys, answers "absent" of the filter, and what is listed at count(). */
    public int $asked = 0, $absent = 0, $missing = 0, $falsePositive = 0, $failed = 0;
    private readonly ?\Closure $report;
    private ?\Closure $open = null;
    private ?\BloomFilter $filter = null;
    private bool $filled;
    private const SECOND = 1_000_000_000;
    /** Of hrtime(). */
    private int $nextLook = 0, $nextCount = 0;

    /**
     * @param \BloomFilter|\Closure $filter a closure opens the filter: it is called until it succeeds, and again after the filter's file was replaced or
     * deleted, which is looked at once a second
     * @param ?callable $report called with the name of a count and the key, whenever one of the last three counts rises; sums over processes are its work
     */
    public function __construct(\BloomFilter|\Closure $filter, public readonly string $mode = 'trust', public readonly string $fail = 'open', ?callable $report = null,
        private bool $trust = false)
    {
        if ($filter instanceof \Closure) $this->open = $filter;
        else $this->filter = $filter;
        $this->filled = $trust;
        if (!in_array($mode, ['trust', 'shadow'], true)) throw new \ValueError("mode must be 'trust' or 'shadow', got '$mode'");
        if (!in_array($fail, ['open', 'closed'], true)) throw new \ValueError("fail must be 'open' or 'closed', got '$fail'");
        $this->report = $report === null ? null : $report(...);
    }

    /** @throws \Exception if it cannot be opened; the next call tries again */
    public function filter(): \BloomFilter
    {
        return $this->filter ??= $this->open ? ($this->open)()
            : throw new \BloomFilterException("the filter's file was replaced or deleted: open it again", \BloomFilterException::LOST);
    }

    /** The program has filled the filter: its answers count. */
    public function trust(): void
    {
        $this->filled = $this->trust = true;
    }

    /** The filter that has the file's name now. */
    private function current(): \BloomFilter
    {
        if ($this->filter && hrtime(true) >= $this->nextLook) {
            $this->nextLook = hrtime(true) + self::SECOND;
            if (!$this->filter->isCurrent()) [$this->filter, $this->filled] = [null, $this->trust];
        }
        return $this->filter();
    }

    /** "Absent" counts only then. */
    private function mustBeFilled(): void
    {
        if (!$this->filled && !$this->filter->created && hrtime(true) >= $this->nextCount) {
            $this->nextCount = hrtime(true) + self::SECOND;     // it reads all bits
            $this->filled = $this->filter->count() > 0;
        }
        if (!$this->filled)
            throw new \BloomFilterException('the filter is empty, or was just created and not filled: see Gate::trust()', \BloomFilterException::NOT_FOUND);
    }

    /** False: the authority need not be asked, because the key is surely not there. Always true in mode 'shadow'. */
    public function mayHave(string|int $key): bool
    {
        return $this->passes($this->look([$key])[0]);
    }

    /**
     * The authority's answer; null, without asking it, if the key is surely not there.
     *
     * @param callable $authority called with the key; what it returns is there if isThere() says so
     */
    public function ask(string|int $key, callable $authority): mixed
    {
        $answer = $this->look([$key])[0];
        if (!$this->passes($answer)) return null;
        $value = $authority($key);
        $this->compare($key, $answer, self::isThere($value));
        return $value;
    }

    /**
     * The filter's answers; null where it failed. A client object of Redis throws exceptions of its own.
     *
     * @param array<string|int> $keys
     * @return array<?bool> under the keys of the array
     */
    public function look(array $keys): array
    {
        $this->asked += count($keys);
        try {
            $answers = $this->current()->existMany($keys);
            if (in_array(false, $answers, true)) $this->mustBeFilled();
        } catch (\Exception $e) {
            if ($e instanceof \BloomFilterException && $e->getCode() === \BloomFilterException::MISMATCH) throw $e;   // wrong settings
            foreach ($keys as $key) $this->count('failed', $key);
            return array_map(fn() => null, $keys);
        }
        $this->absent += count($answers) - count(array_filter($answers));
        return $answers;
    }

    /** null, false, [] and Absent::NotInDatabase (the answer of another gated cache) mean "not there". */
    public static function isThere(mixed $value): bool
    {
        return $value !== null && $value !== false && $value !== [] && $value !== Absent::NotInDatabase;
    }

    /** True if the authority is to be asked after this answer. */
    public function passes(?bool $answer): bool
    {
        return $this->mode === 'shadow' || ($answer ?? $this->fail === 'open');
    }

    /** Compares an answer with what the authority has. A key that the filter calls absent and the authority has is 'missing': add it to the filter. */
    public function compare(string|int $key, ?bool $answer, bool $there): void
    {
        if ($answer === !$there) $this->count($there ? 'missing' : 'falsePositive', $key);
    }

    private function count(string $what, string|int $key): void
    {
        $this->$what++;
        if ($this->report) ($this->report)($what, (string) $key);
    }
}
