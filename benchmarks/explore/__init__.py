"""The explorer: drags over linked views, the one file in a browser, many users at once."""
