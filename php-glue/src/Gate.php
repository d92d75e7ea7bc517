<?php
namespace Bloomfilter\Glue;

/**
 * A filter in front of an authority (a database) that has the filter's keys.
 *
 * Mode 'trust': a key that the filter calls absent is not looked up. Mode 'shadow': every key is looked up, and the answers are compared, so that you see
 * before you trust. An exception of the filter means "perhaps present" with fail 'open', so the authority is asked; "absent" with fail 'closed', so the
 * authority is spared.
 */
final class Gate
{
    /** Counts of this object: keys, answers "absent" of the filter, and what is listed at count(). */
    public int $asked = 0, $absent = 0, $missing = 0, $falsePositive = 0, $failed = 0;
    private readonly ?\Closure $report;

    /**
     * @param \BloomFilter|\Closure $filter a closure returns the filter; it is called at the first use, so that `fail` also decides if the filter cannot be opened
     * @param ?callable $report called with the name of a count and the key, whenever one of the last three counts rises; sums over processes are its work
     */
    public function __construct(private \BloomFilter|\Closure $filter, public readonly string $mode = 'trust', public readonly string $fail = 'open', ?callable $report = null)
    {
        if (!in_array($mode, ['trust', 'shadow'], true)) throw new \ValueError("mode must be 'trust' or 'shadow', got '$mode'");
        if (!in_array($fail, ['open', 'closed'], true)) throw new \ValueError("fail must be 'open' or 'closed', got '$fail'");
        $this->report = $report === null ? null : $report(...);
    }

    /** @throws \Exception if it cannot be opened; the next call tries again */
    public function filter(): \BloomFilter
    {
        return $this->filter instanceof \Closure ? $this->filter = ($this->filter)() : $this->filter;
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
            $answers = $this->filter()->existMany($keys);
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
