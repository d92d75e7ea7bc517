"""A Python function in a process of its own, with the pipes of subprocess and without the time that
a new interpreter takes to import everything.  Knows no command."""

import os
import subprocess
import sys
import warnings


class Forked(subprocess.Popen):
    """Forked(function, stdin=PIPE...): function's answer is the exit code.  Streams, warnings and
    descriptors are those of a new interpreter; modules are this one's."""

    def _execute_child(self, function, *rest):
        p2cread, p2cwrite, c2pread, c2pwrite, errread, errwrite = rest[9:15]
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            self._be(function, p2cread, c2pwrite, errwrite)
        self._child_created = True
        for ours, theirs in ((p2cwrite, p2cread), (c2pread, c2pwrite), (errread, errwrite)):
            if ours != -1:
                os.close(theirs)

    @staticmethod
    def _be(function, *ends):
        code = 1
        try:
            for number, end in enumerate(ends):
                if end != -1:
                    os.dup2(end, number)
            os.closerange(3, 1024)
            for number, name in enumerate(("stdin", "stdout", "stderr")):
                own = getattr(sys, f"__{name}__")
                mode, buffering = ("r", -1) if number == 0 else ("w", 1 if number == 2 else -1)
                setattr(sys, name, open(number, mode, buffering, own.encoding, own.errors))
            warnings.resetwarnings()
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                code = function() or 0
            except SystemExit as end:
                code = end.code or 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            sys.stdout.flush()
        finally:
            os._exit(code)


def run(function, **options):
    """subprocess.run of it, with what it prints."""
    data, timeout = options.pop("input", None), options.pop("timeout", 300)
    for name in ("stdin", "stdout", "stderr"):
        options.setdefault(name, subprocess.PIPE)
    with Forked(function, **options) as process:
        try:
            out, err = process.communicate(data, timeout)
        except BaseException:
            process.kill()
            raise
        return subprocess.CompletedProcess(function, process.returncode, out, err)
