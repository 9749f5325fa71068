"""Where records lie: the WAL they are written to, the index that finds them, caches, readers, and garbage.

wal/  -> objects + metadata.commit_segment          index/ -> views of partitions
cache/ -> bytes of segments already at hand         reader/ -> batches at an offset
records/ -> the record-batch format                 garbage/ -> retention and dead objects
"""
