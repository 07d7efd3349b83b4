"""What all tests share: how hypothesis runs."""

from hypothesis import settings

# No deadline: the first example pays for imports, and a busy machine is no bug.
settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")
