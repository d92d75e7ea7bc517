<?php
/* laravel.php - BloomServiceProvider with Laravel's container, configuration, validator and console. Arguments: an empty folder; config/bloom.php and
 * the rules of docs/frameworks.md. */
require __DIR__ . '/glue.inc';
debian('Illuminate/Container', 'Illuminate/Config', 'Illuminate/Validation', 'Illuminate/Translation', 'Illuminate/Console', 'Illuminate/Support');
use Bloomfilter\Glue\{Gate, RebuildCommand, Laravel\BloomServiceProvider, Laravel\KnownKey};
use Illuminate\Config\Repository;
use Illuminate\Container\Container;
use Illuminate\Translation\{ArrayLoader, Translator};
use Illuminate\Validation\Factory;
use Symfony\Component\Console\{Application, Input\ArrayInput, Output\BufferedOutput};

[, $dir, $config, $rules] = $argv;
function storage_path(string $name): string { return "$GLOBALS[dir]/$name"; }
class UserIds { public function __invoke(): iterable { yield from ['7', '8', '9']; } }
function app(string $id): mixed { return Illuminate\Container\Container::getInstance()->make($id); }
$db = new Database(['7' => 'Ada']);
$said = [];
class_alias(UserIds::class, 'App\\UserIds');
$users = eval(file_get_contents($config));
class User { public static function find(string $id): mixed { return $GLOBALS['db']($id); } }
$app = new Container;
Container::setInstance($app);
$app->instance('config', new Repository(['bloom' => ['report' => function ($what, $key) use (&$said) { $said[] = "$what $key"; }, 'filters' => $users['filters'] + [
    'visitors' => ['n' => 100, 'p' => 0.01, 'mode' => 'shadow', 'trust' => true, 'counting' => true]]]]));
$app->singleton('translator', fn() => new Translator(new ArrayLoader, 'en'));
$app->singleton('validator', fn($app) => new Factory($app['translator'], $app));
$provider = new BloomServiceProvider($app);
$provider->register();
$provider->boot();

$application = new Application;
$application->setAutoExit(false);
$application->add($app->make(RebuildCommand::class));
$output = new BufferedOutput;
same([0, "users: 3 keys\n"], [$application->run(new ArrayInput(['command' => 'bloom:rebuild', 'name' => 'users']), $output), $output->fetch()]);
same([1, "the filter 'visitors' has no source\n"], [$application->run(new ArrayInput(['command' => 'bloom:rebuild', 'name' => 'visitors']), $output), $output->fetch()]);
same([1, "there is no filter 'none'\n"], [$application->run(new ArrayInput(['command' => 'bloom:rebuild', 'name' => 'none']), $output), $output->fetch()]);
same([true, true, 'CountingBloomFilter'], [$app->make(BloomFilter::class) === $app['bloom.users'], $app->make(Gate::class) === $app['bloom.gate.users'], get_class($app['bloom.visitors'])]);

$validate = fn(array $data, array $rules) => $app['validator']->make($data, $rules)->errors()->all();
same([[], ['The selected user is invalid.']], [$validate(['user' => '7'], ['user' => 'bloom:users']), $validate(['user' => 'x'], ['user' => 'bloom:users'])]);
same(['The selected user is invalid.'], $validate(['user' => ['7']], ['user' => 'bloom:users']));
same([], $validate(['user' => 'x'], ['user' => 'bloom:visitors']));
$request = new class { public array $rules; public function validate(array $rules): void { $this->rules = $rules; } };
eval(file_get_contents($rules));
$wrong = ['The selected user is invalid.'];
foreach ([['7', [], 1], ['8', $wrong, 2], ['x', $wrong, 2], [7.5, $wrong, 2]] as [$user, $errors, $queries])
    same([$errors, $queries], [$validate(['user' => $user, 'friend' => '7'], $request->rules), $db->queries], $user);
$app['bloom.gate.visitors']->ask('x', fn() => true);
same(['falsePositive 8', 'missing x'], $said);
echo "end\n";
