"""Tables as they were saved: files, and folders with a file for each partition."""
