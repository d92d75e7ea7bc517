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
    /** Counts of this object: calls, answers "absent", and what is listed at count(). */
    public int $asked = 0, $absent = 0, $missing = 0, $falsePositive = 0, $failed = 0;
    private readonly ?\Closure $report;

    /** @param ?callable $report called with the name of a count and the key, whenever one of the last three counts rises; sums over processes are its work */
    public function __construct(public readonly \BloomFilter $filter, public readonly string $mode = 'trust', public readonly string $fail = 'open', ?callable $report = null)
    {
        if (!in_array($mode, ['trust', 'shadow'], true)) throw new \ValueError("mode must be 'trust' or 'shadow', got '$mode'");
        if (!in_array($fail, ['open', 'closed'], true)) throw new \ValueError("fail must be 'open' or 'closed', got '$fail'");
        $this->report = $report === null ? null : $report(...);
    }

    /** False: the authority need not be asked, because the key is surely not there. Always true in mode 'shadow'. */
    public function mayHave(string|int $key): bool
    {
        return $this->answer($key) || $this->mode === 'shadow';
    }

    /**
     * The authority's answer; null, without asking it, if the key is surely not there.
     *
     * @param callable $authority called with the key; null, false and [] mean "not there"
     */
    public function ask(string|int $key, callable $authority): mixed
    {
        $answer = $this->answer($key);
        if (!$answer && $this->mode === 'trust') return null;
        $value = $authority($key);
        $this->compare($key, $answer, $value !== null && $value !== false && $value !== []);
        return $value;
    }

    /** The filter's answer, and the answer of `fail` if the filter throws. */
    public function answer(string|int $key): bool
    {
        return $this->answers([$key])[0];
    }

    /**
     * @param array<string|int> $keys
     * @return array<bool> under the keys of the array
     */
    public function answers(array $keys): array
    {
        $this->asked += count($keys);
        try {
            $answers = $this->filter->existMany($keys);
        } catch (\BloomFilterException $e) {
            foreach ($keys as $key) $this->count('failed', $key);
            $answers = array_map(fn() => $this->fail === 'open', $keys);
        }
        $this->absent += count($answers) - count(array_filter($answers));
        return $answers;
    }

    /** Compares an answer with what the authority has. A key that the filter calls absent and the authority has is 'missing': add it to the filter. */
    public function compare(string|int $key, bool $answer, bool $there): void
    {
        if ($answer !== $there) $this->count($there ? 'missing' : 'falsePositive', $key);
    }

    private function count(string $what, string|int $key): void
    {
        $this->$what++;
        if ($this->report) ($this->report)($what, (string) $key);
    }
}
