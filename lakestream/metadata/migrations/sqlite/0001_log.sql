-- The log: cluster, brokers, topics, tails, spans, producers, segments, duties. What each table is for: schema.sql.

CREATE TABLE cluster (
    only_row                   INTEGER NOT NULL PRIMARY KEY,
    cluster_id                 TEXT NOT NULL,
    topics_version             INTEGER NOT NULL,
    next_partition_id          INTEGER NOT NULL,
    next_producer_id           INTEGER NOT NULL
);

CREATE TABLE broker (
    id                         INTEGER NOT NULL PRIMARY KEY,
    incarnation                INTEGER NOT NULL,
    host                       TEXT NOT NULL,
    port                       INTEGER NOT NULL,
    rack                       TEXT,
    http                       TEXT NOT NULL,
    lease_until_ms             INTEGER NOT NULL
);

CREATE TABLE topic (
    id                         BLOB NOT NULL PRIMARY KEY,
    name                       TEXT NOT NULL UNIQUE,
    config                     TEXT NOT NULL,
    created_ms                 INTEGER NOT NULL
);

CREATE TABLE partition (
    id                         INTEGER NOT NULL PRIMARY KEY,
    topic_id                   BLOB NOT NULL,
    number                     INTEGER NOT NULL,
    log_start                  INTEGER NOT NULL,
    next_offset                INTEGER NOT NULL,
    bytes                      INTEGER NOT NULL,
    running_max_timestamp_ms   INTEGER NOT NULL,
    UNIQUE (topic_id, number)
);

CREATE TABLE span (
    partition_id               INTEGER NOT NULL,
    base_offset                INTEGER NOT NULL,
    last_offset                INTEGER NOT NULL,
    segment_id                 TEXT NOT NULL,
    at                         INTEGER NOT NULL,
    length                     INTEGER NOT NULL,
    max_timestamp_ms           INTEGER NOT NULL,
    running_max_timestamp_ms   INTEGER NOT NULL,
    append_ms                  INTEGER NOT NULL,
    committed_ms               INTEGER NOT NULL,
    PRIMARY KEY (partition_id, last_offset)
) WITHOUT ROWID;

CREATE TABLE producer (
    partition_id               INTEGER NOT NULL,
    producer_id                INTEGER NOT NULL,
    epoch                      INTEGER NOT NULL,
    recent                     BLOB NOT NULL,
    written_ms                 INTEGER NOT NULL,
    PRIMARY KEY (partition_id, producer_id)
) WITHOUT ROWID;

CREATE TABLE segment (
    id                         TEXT NOT NULL PRIMARY KEY,
    state                      INTEGER NOT NULL,
    broker_id                  INTEGER,
    bytes                      INTEGER NOT NULL,
    decided_ms                 INTEGER NOT NULL,
    results                    BLOB,
    receipted_in               TEXT,
    span_count                 INTEGER NOT NULL,
    dead_since_ms              INTEGER,
    object_deleted_ms          INTEGER
);
CREATE INDEX segment_dead ON segment (dead_since_ms, id) WHERE dead_since_ms IS NOT NULL AND object_deleted_ms IS NULL;
CREATE INDEX segment_receipts ON segment (receipted_in) WHERE receipted_in IS NOT NULL AND dead_since_ms IS NULL;
CREATE INDEX segment_kept ON segment (object_deleted_ms) WHERE object_deleted_ms IS NOT NULL;

CREATE TABLE duty (
    name                       TEXT NOT NULL PRIMARY KEY,
    holder                     TEXT NOT NULL,
    until_ms                   INTEGER NOT NULL
);
