"""Tables as they were saved: files, and folders with a file for each partition."""

from tacit.io.tables.files import TableFile, TableFiles
from tacit.io.tables.folder import is_folder, open_folder

__all__ = ["TableFile", "TableFiles", "is_folder", "open_folder"]
