"""A topic's table: its shape, our own commits to it, and which snapshots and files it keeps."""
