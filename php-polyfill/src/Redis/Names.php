<?php
namespace Bloomfilter\Polyfill\Redis;

/** Names that are derived from a filter's key, and the scripts. */
final class Names
{
    public static function tagged(string $key): bool { return (bool) preg_match('/^[^{]*\{[^}]+\}/', $key); }

    /** Other programs look for K:meta; only a cluster needs the same slot.  There seen has {seen}:meta, so {seen} must have another one. */
    public static function meta(Client $client, string $key): string
    {
        if (preg_match('/^\{[^}]+\}$/', $key)) return "$key::meta";
        return $client->cluster && !self::tagged($key) ? "{{$key}}:meta" : "$key:meta";
    }

    /** In the slot of the key. */
    public static function temporary(string $key): string
    {
        return (self::tagged($key) ? $key : "{{$key}}") . ':tmp:' . bin2hex(random_bytes(8));
    }

    public static function mark(string $bytes): int { return strlen($bytes) === 4 ? unpack('N', $bytes)[1] : 0; }

    public static function script(string $name): string
    {
        static $texts = [];
        return $texts[$name] ??= file_get_contents(__DIR__ . "/../../lua/$name.lua");
    }
}
