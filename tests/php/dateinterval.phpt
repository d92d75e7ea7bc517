--TEST--
Seconds can be a DateInterval of days, hours, minutes and seconds
--FILE--
<?php require __DIR__ . '/redis.inc';
$i = fn(string $text) => new DateInterval($text);
$day = (new DateTime('2024-02-01'))->diff(new DateTime('2024-03-01T00:00:01'));
$half = $i('PT1S');
$half->f = 0.5;
foreach ([[60.0, $i('PT1M')], [604800.0, $i('P1W')], [93784.0, $i('P1DT2H3M4S')], [2505601.0, $day], [1.5, $half], [3600.0, DateInterval::createFromDateString('1 hour')]] as [$seconds, $interval]) {
    same($seconds, (new BloomFilter(n: 100, p: 0.01, window: $interval))->window);
    same(BloomFilter::plan(n: 100, p: 0.01, window: $seconds), BloomFilter::plan(n: 100, p: 0.01, window: $interval));
}
same(90.0, (new BloomFilter(n: 100, p: 0.01, window: 90))->window);
same(90.0, (new BloomFilter(n: 100, p: 0.01, window: '90'))->window);
class Own extends DateInterval { public function __construct() {} }
foreach ([$i('P1M'), $i('P1Y'), DateInterval::createFromDateString('last day of next month'), DateInterval::createFromDateString('3 weekdays'), DateInterval::createFromDateString('first day of'), new Own] as $varies)
    refused('ValueError', 'BloomFilter::__construct(): Argument #10 ($window) must be a DateInterval of days, hours, minutes and seconds', fn() => new BloomFilter(n: 100, p: 0.01, window: $varies));
$past = $i('PT5S');
$past->invert = 1;
refused('ValueError', 'window must be a number of seconds above 0, 0.0001 or more for each part, at most 1e300, got -5', fn() => new BloomFilter(n: 100, p: 0.01, window: $past));
refused('ValueError', 'got 0', fn() => new BloomFilter(n: 100, p: 0.01, window: $i('PT0S')));
foreach (['string' => 'soon', 'array' => [], 'DateTime' => new DateTime] as $type => $value)
    refused('TypeError', "(\$window) must be of type DateInterval|float|null, $type given", fn() => new BloomFilter(n: 100, p: 0.01, window: $value));
refused('TypeError', '($seconds) must be of type DateInterval|float|null, string given', fn() => (new BloomFilter(n: 100, p: 0.01))->expire('soon'));

$server = new RedisServer;
$f = new BloomFilter(n: 100, p: 0.01, storage: $server->url('f'), timeout: $i('PT5S'), retryAfter: $i('PT0S'), cache: true, cacheMaxAge: $i('PT1M'));
$f->expire($i('PT1H'));
same(1, preg_match('/:(\d+)\r/', $server->say('TTL f'), $match));
same(true, $match[1] > 3500 && $match[1] <= 3600, $match[1]);
$f->expire(null);
same(1, preg_match('/:-1\r/', $server->say('TTL f')));
refused('ValueError', 'seconds must be above 0', fn() => $f->expire($i('PT0S')));
refused('ValueError', '($timeout) must be a DateInterval of days', fn() => BloomFilter::open($server->url('f'), timeout: $i('P1M')));
--EXPECT--
