<?php
namespace Bloomfilter\Glue\Symfony;

use Symfony\Component\DependencyInjection\Extension\ExtensionInterface;
use Symfony\Component\HttpKernel\Bundle\Bundle;

/** Filters of config/packages/bloom.yaml as services. */
final class BloomBundle extends Bundle
{
    public function getContainerExtension(): ?ExtensionInterface
    {
        return $this->extension ??= new BloomExtension;
    }
}
