"""Fast learning from sparse and discrete data.

What equals its column's default is never stored and never visited; counts of it are derived.
Names are imported when they are first used; ``__init__.pyi`` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"
