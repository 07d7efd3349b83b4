"""A statistic that ends the process which computes it; workers must be able to import it."""

import os
import signal
from dataclasses import dataclass

from tacit.statistic import Statistic


@dataclass(frozen=True)
class Deadly(Statistic):
    """Kills the process that it is asked of."""

    n_bytes = 100

    def partial(self, part):
        os.kill(os.getpid(), signal.SIGKILL)

    def merge(self, one, other):
        return one
