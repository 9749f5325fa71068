"""A topic's table: its shape, our own commits to it, and the snapshots and files that it keeps."""
