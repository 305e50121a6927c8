"""How the checks report what they found."""
import threading
import time


class Failed(Exception):
    """The test cannot continue, for example because the daemon does not start."""


class Results:
    def __init__(self):
        self.cases, self.failures, self.notes = 0, [], {}
        self.lock = threading.Lock()

    def expect(self, holds, case, found=""):
        with self.lock:
            self.cases += 1
            if not holds:
                self.failures.append(f"{case}: {found}" if found != "" else case)
        return holds


def wait_for(what, condition, seconds=20):
    """Returns the first true value of the condition."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"{what} did not happen within {seconds} s")
        time.sleep(0.05)
