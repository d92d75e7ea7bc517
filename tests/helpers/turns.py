"""How much another thread runs while a call does."""

import threading
import time


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
        """How often it ran during the call."""
        before = self.ticks
        call()
        return self.ticks - before
