"""How much another thread runs while a call does."""

import threading
import time
from functools import partial


class Ticker:
    """Runs every ms, if it may."""

    def __enter__(self):
        self.ticks, self.over = 0, False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        while not self.over:
            self.ticks += 1
            time.sleep(0.001)

    def __exit__(self, *args):
        self.over = True
        self.thread.join()

    def during(self, call):
        """How often it ran during the call.  No bytecode is between the three: where the GIL is taken
        from this thread is in the call."""
        look = partial(getattr, self, "ticks")
        before, _, after = map(partial.__call__, (look, call, look))
        return after - before
