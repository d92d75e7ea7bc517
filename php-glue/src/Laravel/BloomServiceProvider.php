<?php
namespace Bloomfilter\Glue\Laravel;

use Bloomfilter\Glue\Filters;
use Bloomfilter\Glue\Gate;
use Bloomfilter\Glue\RebuildCommand;
use Illuminate\Contracts\Foundation\Application;
use Illuminate\Support\ServiceProvider;

/** For each filter NAME of config/bloom.php: `bloom.NAME` and `bloom.gate.NAME` in the container, the first filter also by its class; the rule `bloom:NAME`. */
final class BloomServiceProvider extends ServiceProvider
{
    private const CONFIG = __DIR__ . '/../../config/bloom.php';

    public function register(): void
    {
        $this->mergeConfigFrom(self::CONFIG, 'bloom');
        foreach ($this->app['config']['bloom.filters'] as $name => $settings) {
            $this->app->singleton("bloom.$name", fn() => Filters::create($this->withClient($settings)));
            $this->app->singleton("bloom.gate.$name", fn($app) => Filters::gate(fn() => $app["bloom.$name"], $settings, $this->made($app['config']['bloom.report'])));
            $this->app->singletonIf(\BloomFilter::class, fn($app) => $app["bloom.$name"]);
            $this->app->singletonIf(Gate::class, fn($app) => $app["bloom.gate.$name"]);
        }
        $this->app->bind(RebuildCommand::class, fn($app) => new RebuildCommand(
            fn($name) => $app->bound("bloom.$name") ? $app["bloom.$name"] : null,
            fn($name) => $this->made($app['config']["bloom.filters.$name.source"])));
    }

    public function boot(): void
    {
        $this->app['validator']->extend('bloom', fn($attribute, $value, $parameters) => is_scalar($value)
            && $this->app["bloom.gate.$parameters[0]"]->mayHave((string) $value), 'The selected :attribute is invalid.');
        $this->commands([RebuildCommand::class]);
        if ($this->app instanceof Application) $this->publishes([self::CONFIG => $this->app->configPath('bloom.php')], 'bloom-config');
    }

    /** `client`: a connection of Laravel's Redis; its object of phpredis or Predis has the filter. */
    private function withClient(array $settings): array
    {
        if (isset($settings['client'])) $settings['storage'] = $this->app['redis']->connection($settings['client'])->client();
        return array_diff_key($settings, ['client' => 1]);
    }

    /** A class of the configuration as an object. */
    private function made(mixed $what): mixed
    {
        return is_string($what) ? $this->app->make($what) : $what;
    }
}
