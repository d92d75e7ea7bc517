<?php
/* intervals.php: what a DateInterval is in the place of seconds. test_same_calls.py compares the lines with the extension's. */
$interval = function (string $text, array $fields = []): DateInterval {
    $interval = str_starts_with($text, 'P') ? new DateInterval($text) : DateInterval::createFromDateString($text);
    foreach ($fields as $name => $value) $interval->$name = $value;
    return $interval;
};
class Own extends DateInterval { public function __construct() {} }
$day = new DateTime('2024-02-01');
$given = [new Own, $day->diff(new DateTime('2024-03-01T00:00:01')), $day->diff(new DateTime('2024-01-01')), $interval('PT1S', ['f' => 0.25]), $interval('PT5S', ['invert' => 1]), $interval('PT0S', ['f' => 1e-6]), $interval('PT1S', ['f' => -3.5])];
foreach (['PT0S', 'PT1S', 'PT1M', 'P1W', 'P1DT2H3M4S', 'PT86400S', 'PT86401S', 'P9999999D', 'P1M', 'P1Y', 'P1Y2D', '1 hour', '-5 sec', '1 hour -3600 sec', 'next weekday', '3 weekdays', 'first day of', 'last day of next month', 'monday', 'midnight'] as $text)
    $given[] = $interval($text);
$size = ['n' => 10, 'p' => 0.01];
$url = ['storage' => 'redis://127.0.0.1/0?key=K', 'cache' => true] + $size;
$calls = [
    'window' => fn($v) => BloomFilter::plan(...$size, window: $v), 'timeout' => fn($v) => BloomFilter::plan(...$url, timeout: $v), 'retryAfter' => fn($v) => BloomFilter::plan(...$url, retryAfter: $v),
    'cacheMaxAge' => fn($v) => BloomFilter::plan(...$url, cacheMaxAge: $v), 'expire' => fn($v) => (new BloomFilter(...$size))->expire($v), 'open' => fn($v) => BloomFilter::open('/nowhere', window: $v),
];
foreach ($given as $i => $v)
    foreach ($calls as $name => $call)
        try {
            $said = json_encode($call($v));
        } catch (Throwable $e) {
            $said = get_class($e) . " {$e->getCode()} {$e->getMessage()}";
        } finally {
            echo "$i $name: $said\n";
        }
