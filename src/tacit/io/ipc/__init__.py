"""Arrow IPC files: all of a file, or record batches as partitions."""

from tacit.io.ipc.file import IpcFile, open_ipc

__all__ = ["IpcFile", "open_ipc"]
