<?php
namespace Bloomfilter\Polyfill;

/**
 * Postpones handlers of signals (pcntl_async_signals).  A handler that throws where a call is the argument of another one may crash PHP 8.2; inside a round
 * trip it would leave a reply behind.  So whatever has such places runs here; only calls for single keys in memory and loops over the keys of the program
 * do not: these have no call that is an argument.
 */
final class Signals
{
    /** What $work returns.  The handlers run after it.  Inside another one this only calls it. */
    public static function held(#[\SensitiveParameter] callable $work): mixed
    {
        if (!\function_exists('pcntl_async_signals') || !pcntl_async_signals()) return $work();
        try {
            pcntl_async_signals(false);
            return $work();
        } finally {
            pcntl_async_signals(true);
            pcntl_signal_dispatch();
        }
    }
}
