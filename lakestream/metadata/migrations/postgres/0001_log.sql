-- The log: cluster, brokers, topics, tails, spans, producers, segments, duties. What each table is for: schema.sql.
-- Rows overwritten at every commit get half-empty pages, so that updates stay on their page (HOT) and touch no index.

CREATE TABLE cluster (
    only_row                   smallint NOT NULL PRIMARY KEY,
    cluster_id                 text     NOT NULL,
    topics_version             bigint   NOT NULL,
    next_partition_id          bigint   NOT NULL,
    next_producer_id           bigint   NOT NULL
);

CREATE TABLE broker (
    id                         integer  NOT NULL PRIMARY KEY,
    incarnation                bigint   NOT NULL,
    host                       text     NOT NULL,
    port                       integer  NOT NULL,
    rack                       text,
    http                       text     NOT NULL,
    lease_until_ms             bigint   NOT NULL
);

CREATE TABLE topic (
    id                         bytea    NOT NULL PRIMARY KEY,
    name                       text     NOT NULL UNIQUE,
    config                     text     NOT NULL,
    created_ms                 bigint   NOT NULL
);

CREATE TABLE partition (
    id                         bigint   NOT NULL PRIMARY KEY,
    topic_id                   bytea    NOT NULL,
    number                     integer  NOT NULL,
    log_start                  bigint   NOT NULL,
    next_offset                bigint   NOT NULL,
    bytes                      bigint   NOT NULL,
    running_max_timestamp_ms   bigint   NOT NULL,
    UNIQUE (topic_id, number)
) WITH (fillfactor = 50);

CREATE TABLE span (
    partition_id               bigint   NOT NULL,
    base_offset                bigint   NOT NULL,
    last_offset                bigint   NOT NULL,
    segment_id                 text COLLATE "C" NOT NULL,
    at                         bigint   NOT NULL,
    length                     bigint   NOT NULL,
    max_timestamp_ms           bigint   NOT NULL,
    running_max_timestamp_ms   bigint   NOT NULL,
    append_ms                  bigint   NOT NULL,
    committed_ms               bigint   NOT NULL,
    PRIMARY KEY (partition_id, last_offset)
);

CREATE TABLE producer (
    partition_id               bigint   NOT NULL,
    producer_id                bigint   NOT NULL,
    epoch                      integer  NOT NULL,
    recent                     bigint[] NOT NULL,
    written_ms                 bigint   NOT NULL,
    PRIMARY KEY (partition_id, producer_id)
) WITH (fillfactor = 50);

CREATE TABLE segment (
    id                         text COLLATE "C" NOT NULL PRIMARY KEY,
    state                      smallint NOT NULL,
    broker_id                  integer,
    bytes                      bigint   NOT NULL,
    decided_ms                 bigint   NOT NULL,
    results                    bytea,
    receipted_in               text COLLATE "C",
    span_count                 bigint   NOT NULL,
    dead_since_ms              bigint,
    object_deleted_ms          bigint
);
CREATE INDEX segment_dead ON segment (dead_since_ms, id) WHERE dead_since_ms IS NOT NULL AND object_deleted_ms IS NULL;
CREATE INDEX segment_receipts ON segment (receipted_in) WHERE receipted_in IS NOT NULL AND dead_since_ms IS NULL;
CREATE INDEX segment_kept ON segment (object_deleted_ms) WHERE object_deleted_ms IS NOT NULL;

CREATE TABLE duty (
    name                       text     NOT NULL PRIMARY KEY,
    holder                     text     NOT NULL,
    until_ms                   bigint   NOT NULL
);
