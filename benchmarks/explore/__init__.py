"""The explorer: drags over linked views beside peers, in the browser, and for many users at once."""
