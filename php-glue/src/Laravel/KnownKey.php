<?php
namespace Bloomfilter\Glue\Laravel;

use Bloomfilter\Glue\Gate;
use Illuminate\Contracts\Validation\Rule;

/** A validation rule: the value is a key of the authority, which is asked only if the filter does not exclude the key. */
final class KnownKey implements Rule
{
    /** @param callable $authority called with the value; null, false and [] mean "not there" */
    public function __construct(private readonly Gate $gate, private $authority)
    {
    }

    public function passes($attribute, $value): bool
    {
        $found = is_string($value) || is_int($value) ? $this->gate->ask($value, $this->authority) : null;
        return $found !== null && $found !== false && $found !== [];
    }

    public function message(): string
    {
        return 'The selected :attribute is invalid.';
    }
}
