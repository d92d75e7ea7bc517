<?php
namespace Bloomfilter\Polyfill\Redis;

/** Names that are derived from a filter's key, and the scripts. */
final class Names
{
    public static function tagged(string $key): bool { return (bool) preg_match('/^[^{]*\{[^}]+\}/', $key); }

    /** In the slot of the key. */
    public static function of(string $key, string $suffix): string { return self::tagged($key) ? "$key:$suffix" : "{{$key}}:$suffix"; }

    /** Other programs look for K:meta; only a cluster needs the same slot. */
    public static function meta(Client $client, string $key): string { return $client->cluster ? self::of($key, 'meta') : "$key:meta"; }

    public static function mark(string $bytes): int { return strlen($bytes) === 4 ? unpack('N', $bytes)[1] : 0; }

    public static function script(string $name): string
    {
        static $texts = [];
        return $texts[$name] ??= file_get_contents(__DIR__ . "/../../lua/$name.lua");
    }
}
