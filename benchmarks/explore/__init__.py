"""The explorer: linked views of flights, in the browser and for many users at once."""
