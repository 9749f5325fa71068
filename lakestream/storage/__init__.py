"""Storage of records: the write-ahead log, the index that finds records, caches, readers, and garbage collection.

wal/     -> objects + metadata.commit_segment       index/   -> views of partitions
cache/   -> segment bytes in memory                 reader/  -> batches at an offset
records/ -> the record-batch format                 garbage/ -> retention and dead objects
"""
