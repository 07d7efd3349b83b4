"""One module for each kind of file that a Table can be read from."""
