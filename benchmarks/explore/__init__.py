"""The explorer's server against what else answers drags over linked views."""
