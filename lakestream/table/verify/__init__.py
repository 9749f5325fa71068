"""`lakestream verify`: proves from outside that a topic and its table hold the same records.

    topic, through Kafka  -> Arrow -> a hash for each record (hashing) -> digests of chunks of offsets (digest)
    table__log, on Spark  ----------> a hash for each row    (rows)    -> digests of chunks of offsets; the same?
    ledgers               -> do they follow one another without gap or overlap, and name the files that are there?
    objects               -> is everything there that the table refers to?
    WAL                   -> has everything gone from it that is in the table?

verification.py combines these for one topic.
"""
