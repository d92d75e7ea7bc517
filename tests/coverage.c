/* coverage.c - linked into the tests where lines are counted (scripts/coverage): a child that ends
 * by _exit has counted too. */
void __gcov_dump(void);
void __real__exit(int code) __attribute__((noreturn));
void __wrap__exit(int code) __attribute__((noreturn));
void __wrap__exit(int code)
{
    __gcov_dump();
    __real__exit(code);
}
