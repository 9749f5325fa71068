-- Everything the metadata store knows, on one screen. For reading: the statements that build it are in
-- migrations/sqlite and migrations/postgres, and a test holds both against this file.
-- Times are milliseconds since 1970 by the store's clock. There are no foreign keys: every verb keeps its
-- references right inside one transaction, and a check per span would be paid at every commit.
-- Lock order: cluster, topic, broker, partition by id, producer, segment by id, duty, lease, job, receipt, namespace, table by id.

-- The one row of the cluster itself. Written: at first open, and by whoever takes a number from it. Read: by all.
CREATE TABLE cluster (
    only_row                   smallint NOT NULL PRIMARY KEY,  -- always 1
    cluster_id                 text     NOT NULL,              -- 22 characters, never changes
    topics_version             bigint   NOT NULL,              -- rises with every change to any topic
    next_partition_id          bigint   NOT NULL,
    next_producer_id           bigint   NOT NULL
);

-- Which migrations were applied. Written: at open. A number above those a program has is refused: it is newer.
CREATE TABLE migration (
    number                     integer  NOT NULL PRIMARY KEY,
    applied_ms                 bigint   NOT NULL
);

-- Who may write, kept for ever so that incarnations only rise. Written: by each broker every few seconds. Read: at every commit.
CREATE TABLE broker (
    id                         integer  NOT NULL PRIMARY KEY,
    incarnation                bigint   NOT NULL,
    host                       text     NOT NULL,
    port                       integer  NOT NULL,
    rack                       text,
    http                       text     NOT NULL,
    lease_until_ms             bigint   NOT NULL
);

-- From creation to deletion. Written: by administrators. Read: by every broker when topics_version has risen.
CREATE TABLE topic (
    id                         bytea    NOT NULL PRIMARY KEY,  -- 16 bytes
    name                       text     NOT NULL UNIQUE,
    config                     text     NOT NULL,              -- a JSON object of the configs set on it
    created_ms                 bigint   NOT NULL
);

-- The tail, as long as the topic lives. Written: at every commit to it, by retention, by DeleteRecords. Read: at every fetch.
CREATE TABLE partition (
    id                         bigint   NOT NULL PRIMARY KEY,  -- never reused
    topic_id                   bytea    NOT NULL,
    number                     integer  NOT NULL,
    log_start                  bigint   NOT NULL,
    next_offset                bigint   NOT NULL,
    bytes                      bigint   NOT NULL,              -- of its spans
    running_max_timestamp_ms   bigint   NOT NULL,              -- of its last span; -1 where no record has a time
    UNIQUE (topic_id, number)
);

-- Where offsets lie, until retention or deletion takes them. Written: at commit. Read: at every fetch and by-time lookup.
-- Lookups by time bisect over the running maximum, which spares each commit a second index to write.
CREATE TABLE span (
    partition_id               bigint   NOT NULL,
    base_offset                bigint   NOT NULL,
    last_offset                bigint   NOT NULL,
    segment_id                 text     NOT NULL,
    at                         bigint   NOT NULL,
    length                     bigint   NOT NULL,
    max_timestamp_ms           bigint   NOT NULL,
    running_max_timestamp_ms   bigint   NOT NULL,              -- over this span and all before it, dropped ones too: never falls
    append_ms                  bigint   NOT NULL,              -- log-append time, or -1
    committed_ms               bigint   NOT NULL,
    PRIMARY KEY (partition_id, last_offset)
);

-- What an idempotent producer last wrote to a partition, until idle for a day. Written and read: at commits that carry it.
CREATE TABLE producer (
    partition_id               bigint   NOT NULL,
    producer_id                bigint   NOT NULL,
    epoch                      integer  NOT NULL,
    recent                     bytea    NOT NULL,              -- its last 5 batches; PostgreSQL: bigint[20]
    written_ms                 bigint   NOT NULL,
    PRIMARY KEY (partition_id, producer_id)
);

-- A WAL object's one fate, from commit or abandonment until its object is deleted (abandoned: 7 days more, against zombies).
-- Written: once, then as spans go. Read: by repeats of the commit and by garbage collection.
CREATE TABLE segment (
    id                         text     NOT NULL PRIMARY KEY,
    state                      smallint NOT NULL,              -- 1 committed, 2 abandoned
    broker_id                  integer,                        -- null where abandoned
    bytes                      bigint   NOT NULL,
    decided_ms                 bigint   NOT NULL,
    results                    bytea,                          -- of its batches; dropped when receipted
    receipted_in               text,                           -- the later segment whose footer carries them
    span_count                 bigint   NOT NULL,              -- references: at 0 it is dead for good
    dead_since_ms              bigint,
    object_deleted_ms          bigint                          -- set on abandoned rows that outlive their object
);
CREATE INDEX segment_dead ON segment (dead_since_ms, id) WHERE dead_since_ms IS NOT NULL AND object_deleted_ms IS NULL;
CREATE INDEX segment_receipts ON segment (receipted_in) WHERE receipted_in IS NOT NULL AND dead_since_ms IS NULL;
CREATE INDEX segment_kept ON segment (object_deleted_ms) WHERE object_deleted_ms IS NOT NULL;

-- Who does a named chore until when. Written: by its holder. Read: by those who would like it.
CREATE TABLE duty (
    name                       text     NOT NULL PRIMARY KEY,
    holder                     text     NOT NULL,
    until_ms                   bigint   NOT NULL
);

-- Where tables are grouped, from creation until dropped empty. Written and read: by the catalog.
CREATE TABLE namespace (
    name                       text     NOT NULL PRIMARY KEY,  -- its levels, joined by the character 0x1F
    parent                     text     NOT NULL,              -- all levels but the last; '' at the top
    properties                 text     NOT NULL,              -- a JSON object
    created_ms                 bigint   NOT NULL
);
CREATE INDEX namespace_by_parent ON namespace (parent, name);

-- Which metadata file is the table, until it is dropped. Written: at every commit to it. Read: at every load.
CREATE TABLE lake_table (
    id                         text     NOT NULL PRIMARY KEY,  -- the uuid, the same in its metadata
    namespace                  text     NOT NULL,
    name                       text     NOT NULL,
    kind                       text     NOT NULL,              -- topic, ordinary, view
    metadata_location          text     NOT NULL,
    topic_id                   bytea    UNIQUE,                -- where the kind is topic
    changed_ms                 bigint   NOT NULL,
    UNIQUE (namespace, name)
);

-- Requests that were carried out, for an hour, so that a repeated one is not carried out twice. Written: with their effect.
CREATE TABLE receipt (
    key                        text     NOT NULL PRIMARY KEY,  -- the client's idempotency key
    request                    text     NOT NULL,              -- a digest of what was asked
    answer                     text     NOT NULL,
    created_ms                 bigint   NOT NULL
);
CREATE INDEX receipt_by_age ON receipt (created_ms);

-- The end of the contiguous prefix of the log that is in the table. Written: by the commit of a compaction job.
ALTER TABLE partition ADD COLUMN tabled_until bigint NOT NULL DEFAULT 0;

-- Where offsets lie that have moved into the table, until retention or deletion takes them. Written: by the commit of a
-- compaction job, which removes the spans they replace. Read: at every fetch and by-time lookup.
CREATE TABLE file_span (
    partition_id               bigint   NOT NULL,
    base_offset                bigint   NOT NULL,
    last_offset                bigint   NOT NULL,
    table_id                   text     NOT NULL,
    file                       text     NOT NULL,              -- its location, as in the table's metadata
    log_file                   text,                           -- the file of the same job that only `log` refers to
    rows                       bigint   NOT NULL,
    bytes                      bigint   NOT NULL,              -- of the log's records, for retention by size
    max_timestamp_ms           bigint   NOT NULL,
    running_max_timestamp_ms   bigint   NOT NULL,
    committed_ms               bigint   NOT NULL,
    PRIMARY KEY (partition_id, last_offset)
);
CREATE INDEX file_span_by_time ON file_span (partition_id, running_max_timestamp_ms, last_offset);

-- Compaction attempts: planned, then committed or dropped, kept for a day. Written: by the pipeline that runs it.
CREATE TABLE job (
    id                         text     NOT NULL PRIMARY KEY,  -- a ULID
    state                      smallint NOT NULL,              -- 1 planned, 2 committed, 3 dropped
    token                      bigint   NOT NULL,              -- the fencing token under which it was planned
    topics                     text     NOT NULL,              -- a JSON list of topic ids in hexadecimal
    created_ms                 bigint   NOT NULL,
    finished_ms                bigint,
    answer                     text                            -- what the commit said, for repeats
);

-- Who may do something until when, with a token that rises with every new holder. Written: by its holder. Read: by its commits.
CREATE TABLE lease (
    name                       text     NOT NULL PRIMARY KEY,
    holder                     text     NOT NULL,
    token                      bigint   NOT NULL,
    until_ms                   bigint   NOT NULL
);
