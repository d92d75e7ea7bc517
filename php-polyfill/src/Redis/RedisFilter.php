<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Filter, Params};

/** A filter of fixed size in Redis: one key, or shards. */
final class RedisFilter extends Filter
{
    public function replace(int $i, string $bits, string $how): void
    {
        $this->parts[$i]->store->mustBeOwn("be $how");
        $this->parts[$i]->store->exchange($bits, ['united' => 'OR', 'intersected' => 'AND'][$how] ?? '');
    }

    public function expire(float $seconds): void { $this->care('expire', ...self::expiry($seconds)); }
    public function delete(): void { $this->care('be deleted', 'DEL'); }

    private function care(string $what, string ...$command): void
    {
        $this->checkWritable();
        $this->parts[0]->store->care($what, ...$command);
    }

    public static function expiry(float $seconds): array
    {
        return $seconds > 0 ? ['PEXPIRE', (string) max(1, (int) ($seconds * 1000 + 0.5))] : ['PERSIST'];
    }
}
