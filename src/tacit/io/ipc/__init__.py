"""Arrow IPC files: all of a file, or record batches as partitions."""

from tacit.io.ipc.file import IpcFile, ipc_frame, read_ipc

__all__ = ["IpcFile", "ipc_frame", "read_ipc"]
