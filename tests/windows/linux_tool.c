/* linux_tool.c - gcc.exe or pkg-config.exe for programs of Windows that run in Wine: starts the
 * tool of this Linux machine, with names of files as Linux has them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* -IC:\a\b: -I$WINEPREFIX/dosdevices/c:/a/b */
static char *as_on_linux(const char *word)
{
    const char *prefix = getenv("WINEPREFIX");
    char *name = malloc(strlen(word) + strlen(prefix) + sizeof "/dosdevices/"), *end = name;
    if (word[0] == '-' && (word[1] == 'I' || word[1] == 'L'))
        end += sprintf(end, "-%c", word[1]), word += 2;
    if (word[0] && word[1] == ':') end += sprintf(end, "%s/dosdevices/%c", prefix, *word++ | 32);
    strcpy(end, word);
    for (; *end; end++)
        if (*end == '\\') *end = '/';
    return name;
}

/* What the tool prints passes through a file: it does not get a pipe of a program of Windows. */
int main(int argc, char **argv)
{
    int (*run)(char **words, int wait) =
        (void *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "__wine_unix_spawnvp");
    char **words = calloc((size_t)argc + 4, sizeof *words), name[32], command[96];
    sprintf(name, "C:\\said.%lu", GetCurrentProcessId());
    sprintf(command, "exec \"$0\" \"$@\" >\"$WINEPREFIX/drive_c/%s\"", name + 3);
    words[0] = "/bin/sh";
    words[1] = "-c";
    words[2] = command;
    words[3] = strstr(argv[0], "gcc") ? "x86_64-w64-mingw32-gcc-posix" : "pkg-config";
    for (int i = 1; i < argc; i++) words[3 + i] = as_on_linux(argv[i]);
    const int code = run(words, 1);
    FILE *said = fopen(name, "r");
    for (int c; said && (c = getc(said)) != EOF;) putchar(c);
    if (said) fclose(said);
    remove(name);
    return code;
}
