<?php
/* autoload.php - the classes in pure PHP, with or without Composer.  Where the extension is loaded there is nothing to do. */

if (PHP_INT_SIZE === 8 && PHP_VERSION_ID >= 80100 && !extension_loaded('bloomfilter')) {
    require_once __DIR__ . '/src/Signals.php';
    spl_autoload_register(static function (string $class): void {
        $own = in_array($class, ['BloomFilter', 'CountingBloomFilter', 'BloomFilterException'], true);
        $name = $own ? $class : (str_starts_with($class, 'Bloomfilter\\Polyfill\\') ? strtr(substr($class, 21), '\\', '/') : null);
        if (!$name || !is_file($file = __DIR__ . "/src/$name.php")) return;
        // A handler of a signal may need a class while it is loaded: then PHP does not find it.  These are first used outside of Signals::held().
        Bloomfilter\Polyfill\Signals::held(static function () use ($file, $own) {
            require $file;
            if ($own) foreach (['Fault', 'Keys', 'MersenneTwister', 'Numbers'] as $needed) class_exists("Bloomfilter\\Polyfill\\$needed");
        });
    });
}
