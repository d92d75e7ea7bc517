<?php
namespace Bloomfilter\Glue;

/** What a cache decorator returns for a key that is surely not in the database. */
enum Absent
{
    case NotInDatabase;
}
