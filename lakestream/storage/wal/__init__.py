"""The write-ahead log: batches of many partitions gathered into one object, made durable, then committed."""
