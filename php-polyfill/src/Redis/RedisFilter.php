<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Filter, Part, Signals};

/** A filter in Redis: one key, or shards. */
class RedisFilter extends Filter
{
    protected Key|Shards $store;

    public function bind(Key $key): void
    {
        $this->store = $this->d->shards > 1 ? new Shards($key) : $key;
        $this->append(new Part($this->d, $this->store, $this->secret));
    }

    public function add(string $key): bool { return Signals::held(fn() => parent::add($key)); }
    public function exists(string $key): bool { return Signals::held(fn() => parent::exists($key)); }
    public function remove(string $key): bool { return Signals::held(fn() => parent::remove($key)); }
    public function hashcode(string $key): array { return Signals::held(fn() => parent::hashcode($key)); }
    public function countOf(string $key): int { return Signals::held(fn() => parent::countOf($key)); }

    public function replaceAll(string $bits, string $how): void
    {
        $this->checkWritable();
        $this->store->mustBeOwn("be $how");
        $this->store->exchange($bits, ['united' => 'OR', 'intersected' => 'AND'][$how] ?? 'REPLACE');
    }

    public function checkIdle(): void { ($this->store->whole ?? $this->store)->client->checkIdle(); }
    public function isCurrent(): bool { return $this->store->isCurrent(); }

    public function expire(float $seconds): void
    {
        $this->checkWritable();
        $this->store->care('expire', ...$seconds > 0 ? ['PEXPIRE', (string) max(1, (int) ($seconds * 1000 + 0.5))] : ['PERSIST']);
    }

    public function delete(): void
    {
        $this->checkWritable();
        $this->store->care('be deleted', 'DEL');
    }
}
