<?php
namespace Bloomfilter\Polyfill\Redis;

/** The connection ended in the middle of a pipeline. */
final class Cut extends \RuntimeException {}
