<?php
/* autoload.php - the classes in pure PHP, with or without Composer.  Where the extension is loaded there is nothing to do. */

if (PHP_INT_SIZE === 8 && PHP_VERSION_ID >= 80100 && !extension_loaded('bloomfilter'))
    spl_autoload_register(static function (string $class): void {
        $own = in_array($class, ['BloomFilter', 'CountingBloomFilter', 'BloomFilterException'], true);
        $name = $own ? $class : (str_starts_with($class, 'Bloomfilter\\Polyfill\\') ? strtr(substr($class, 21), '\\', '/') : null);
        if (!$name || !is_file($file = __DIR__ . "/src/$name.php")) return;
        $async = function_exists('pcntl_async_signals') && pcntl_async_signals(false);      // a handler may need this class
        require $file;
        if (!$async) return;
        pcntl_async_signals(true);
        pcntl_signal_dispatch();
    });
