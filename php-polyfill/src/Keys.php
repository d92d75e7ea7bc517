<?php
namespace Bloomfilter\Polyfill;

/** PHP values as keys: a string as it is, an int as its decimal text, a Stringable object as its text. */
final class Keys
{
    /** A key that is not a string. */
    public static function text(mixed $key, string $method, string $class = 'BloomFilter'): string
    {
        return \is_int($key) || $key instanceof \Stringable ? (string) $key
            : throw new \TypeError("$class::$method(): Argument #1 (\$key) must be of type string, int or Stringable, " . self::type($key) . ' given');
    }

    /** The same of many: the exception of a bad key has its index. */
    public static function textAt(mixed $key, int|string $at, string $method, string $class): string
    {
        return \is_int($key) || $key instanceof \Stringable ? (string) $key : throw self::bad($key, $at, $method, $class);
    }

    private static function bad(mixed $key, int|string $at, string $method, string $class): \TypeError
    {
        $shown = \is_string($at) ? "\"$at\"" : $at;
        $e = new \TypeError("$class::$method(): Argument #1 (\$keys) must hold keys of type string, int or Stringable, "
            . self::type($key) . " given at index $shown");
        self::setIndex($e, $at);
        return $e;
    }

    private static function type(mixed $key): string
    {
        $type = \get_debug_type($key);
        return \strtok($type, ' ');
    }

    public static function setIndex(\Throwable $e, int|string $at): void
    {
        \set_error_handler(fn() => true);            // a property that is not declared is deprecated
        $e->index = $at;
        \restore_error_handler();
    }
}
