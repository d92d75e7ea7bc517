<?php

/** Everything that is neither a wrong type nor a value out of range. */
class BloomFilterException extends RuntimeException
{
    const CLOSED = 0;
    const NO_MEMORY = -2;
    const IO = -3;
    const FORMAT = -4;
    const MISMATCH = -5;
    const NOT_SUPPORTED = -6;
    const BUSY = -8;
    const NOT_FOUND = -9;
    const LOST = -10;
    const FULL = -11;
}
