-- Everything the metadata store knows, on one screen. For reading: the statements that build it are in
-- migrations/sqlite and migrations/postgres, and a test holds both against this file.
-- Times are milliseconds since 1970 by the store's clock. There are no foreign keys: every verb keeps its
-- references right inside one transaction, and a check per span would be paid at every commit.
-- Lock order: receipt, namespace, cluster, topic, transactional id, broker, partition by id, producer, segment by id, inline segment, duty, lease, job, compaction ask, group epoch, group, offset, share-partition, group config, table by id.
-- Transactions of PostgreSQL keep to it, so that they never wait for each other in a circle; SQLite has one writer. The registry's row is locked before its
-- own tables, and with nothing else; so is the row of access_version.

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
    segment_id                 text     NOT NULL,              -- or a transaction's marker: model/transaction.py
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
    bytes                      bigint   NOT NULL,              -- of its object: 0 where it is inline
    decided_ms                 bigint   NOT NULL,
    results                    bytea,                          -- of its batches; dropped when receipted
    receipted_in               text,                           -- the later segment whose footer carries them; its own id if it was moved
    span_count                 bigint   NOT NULL,              -- references: at 0 it is dead for good
    dead_since_ms              bigint,
    object_deleted_ms          bigint                          -- set on abandoned rows that outlive their object
);
CREATE INDEX segment_dead ON segment (dead_since_ms, id) WHERE dead_since_ms IS NOT NULL AND object_deleted_ms IS NULL;
CREATE INDEX segment_receipts ON segment (receipted_in) WHERE receipted_in IS NOT NULL AND dead_since_ms IS NULL;
CREATE INDEX segment_kept ON segment (object_deleted_ms) WHERE object_deleted_ms IS NOT NULL;

-- The bytes of a small flush, for seconds, until they are moved into an object or their last span goes. Written: with
-- their commit. Read: at fetches, and by whoever moves them. The segment's fate is in `segment`, as for objects.
CREATE TABLE inline_segment (
    id                         text     NOT NULL PRIMARY KEY,  -- begins with 'inline-', and sorts after every object's
    bytes                      bigint   NOT NULL,
    committed_ms               bigint   NOT NULL,
    data                       bytea    NOT NULL               -- batches, one behind the other
);
CREATE INDEX span_inline ON span (segment_id) WHERE segment_id >= 'inline';

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
    kind                       text     NOT NULL,              -- topic, ordinary, view, kept, dropped
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

-- Of a file that an engine appended to the table: the object that says how its rows become records. Null: the rows have
-- offsets of their own. Written: by the commit that appends it. Read: with the span.
ALTER TABLE file_span ADD COLUMN encoding text;

-- The end of the last file that an engine appended. Such spans may lie above tabled_until, among spans of the WAL.
-- Written: by the commit that appends a file. Read: with the tail.
ALTER TABLE partition ADD COLUMN appended_until bigint NOT NULL DEFAULT 0;

-- Compaction attempts of one topic: planned, then committed or dropped, kept for an hour. Written: by the pipeline that runs it.
CREATE TABLE job (
    id                         text     NOT NULL PRIMARY KEY,  -- a ULID
    state                      smallint NOT NULL,              -- 1 planned, 2 committed, 3 dropped
    token                      bigint   NOT NULL,              -- the fencing token under which it was planned
    table_id                   text     NOT NULL,              -- the table whose files it writes
    created_ms                 bigint   NOT NULL,
    finished_ms                bigint,
    answer                     text                            -- what the commit said, for repeats
);
CREATE INDEX job_by_state ON job (state, finished_ms);

-- Topics that someone wants in their tables now. Written: by whoever asks, and by the pipeline when it is done. Read: by the pipeline.
CREATE TABLE compaction_ask (
    topic_id                   bytea    NOT NULL PRIMARY KEY,
    asked_ms                   bigint   NOT NULL
);

-- What someone asks to be done with values that were set aside, and the answer, for an hour. Written: by the gateway when it
-- is asked, by the pipeline when it is done. Read: by the pipeline, and by whoever waits.
CREATE TABLE repair (
    id                         text     NOT NULL PRIMARY KEY,  -- a ULID
    topic_id                   bytea    NOT NULL,
    request                    text     NOT NULL,              -- JSON
    state                      smallint NOT NULL,              -- 1 asked, 2 done, 3 failed
    answer                     text,                           -- JSON, or a message
    asked_ms                   bigint   NOT NULL
);
CREATE INDEX repair_by_state ON repair (state, id);

-- Who may do something until when, with a token that rises with every new holder. Written: by its holder. Read: by its commits.
CREATE TABLE lease (
    name                       text     NOT NULL PRIMARY KEY,
    holder                     text     NOT NULL,
    token                      bigint   NOT NULL,
    until_ms                   bigint   NOT NULL
);

-- The one row of the schema registry. Written: by whoever registers a schema, and locked by all who write below, so that
-- they follow one another. Read: for the greatest id.
CREATE TABLE registry (
    only_row                   smallint NOT NULL PRIMARY KEY,  -- always 1
    next_schema_id             bigint   NOT NULL
);

-- A schema under its id, while any version has it; never changed. Written: at its first registration. Read: by serializers.
CREATE TABLE registered_schema (
    id                         bigint   NOT NULL PRIMARY KEY,  -- from 1, never given twice
    guid                       text     NOT NULL UNIQUE,       -- derived from all that follows: its identity
    format                     text     NOT NULL,              -- AVRO, JSON, PROTOBUF
    text                       text     NOT NULL,              -- in canonical form
    refs                       text     NOT NULL               -- a JSON array of [name, subject, version]
);

-- The same references the other way round, as long as their schema. Written: with it. Read: before versions are deleted.
CREATE TABLE schema_reference (
    schema_id                  bigint   NOT NULL,              -- the one that refers
    subject                    text     NOT NULL,              -- to this version of this subject
    version                    bigint   NOT NULL,
    PRIMARY KEY (schema_id, subject, version)
);
CREATE INDEX schema_reference_by_target ON schema_reference (subject, version);

-- Settings of a subject, and how often it has changed; '' are those of all. Written: at every change to the subject or its
-- versions. Read: by every registration, which is refused if it changed meanwhile.
CREATE TABLE subject (
    name                       text     NOT NULL PRIMARY KEY,
    changes                    bigint   NOT NULL,
    compatibility              text,                           -- null: as for all
    mode                       text,
    normalize                  smallint
);

-- A subject's versions, until permanently deleted. Written: at registration and deletion. Read: by clients and serializers.
CREATE TABLE subject_version (
    subject                    text     NOT NULL,
    version                    bigint   NOT NULL,
    schema_id                  bigint   NOT NULL,
    deleted                    smallint NOT NULL,              -- 1: hidden, can still be read by its id
    registered_ms              bigint   NOT NULL,
    PRIMARY KEY (subject, version)
);
CREATE INDEX subject_version_by_schema ON subject_version (schema_id);

-- The one row from which the epochs of all groups are taken, so that none is given twice. Written and locked: by claims.
CREATE TABLE group_epoch (
    only_row                   smallint NOT NULL PRIMARY KEY,  -- always 1
    last_epoch                 bigint   NOT NULL
);

-- Who coordinates a consumer group under which epoch, and what it last settled on, until it is deleted or has neither
-- members nor offsets. Written: by claims, and by its owner at every rebalance. Read: when it is claimed, and at every commit.
CREATE TABLE consumer_group (
    name                       text     NOT NULL PRIMARY KEY,
    epoch                      bigint   NOT NULL,              -- of its owner: every write must come with it
    owner_id                   integer  NOT NULL,              -- a broker
    kind                       smallint NOT NULL,              -- 1 classic, 2 consumer, 3 share
    protocol_type              text     NOT NULL,
    generation                 bigint   NOT NULL,              -- commits of an earlier one are refused
    occupied                   smallint NOT NULL,              -- 1: has members
    empty_since_ms             bigint,                         -- null: has members, or never had any
    subscribed                 text,                           -- a JSON array of topic names; null: not known
    state                      bytea                           -- the coordinator's own; null before its first save
);

-- Where a group's reader of a partition goes on. Written: by commits, deletion, expiry. Read: by members that are given the partition.
CREATE TABLE group_offset (
    group_name                 text     NOT NULL,
    topic_id                   bytea    NOT NULL,
    number                     integer  NOT NULL,              -- of the partition in its topic
    next_offset                bigint   NOT NULL,
    leader_epoch               integer  NOT NULL,
    metadata                   bytea    NOT NULL,              -- the client's text; may hold anything, so not text here
    committed_ms               bigint   NOT NULL,
    retention_ms               bigint,                         -- the client's own wish; null: as the broker says
    PRIMARY KEY (group_name, topic_id, number)
);
CREATE INDEX group_offset_by_topic ON group_offset (topic_id);

-- Who serves a partition to a share group under which epoch, and what it has delivered of it. Written: by claims, by its
-- owner before every answer that gives records or takes acknowledgements, by resets. Read: when it is claimed.
CREATE TABLE share_partition (
    group_name                 text     NOT NULL,
    topic_id                   bytea    NOT NULL,
    number                     integer  NOT NULL,              -- of the partition in its topic
    epoch                      bigint   NOT NULL UNIQUE,       -- of its owner, from group_epoch: every save comes with it
    owner_id                   integer  NOT NULL,              -- a broker; -1: none since a reset
    start_offset               bigint,                         -- every record below it is done; null: never read
    done                       bigint   NOT NULL,              -- offsets above it that are done
    state                      bytea,                          -- the owner's own; null before its first save
    PRIMARY KEY (group_name, topic_id, number)
);
CREATE INDEX share_partition_by_topic ON share_partition (topic_id);

-- The one row that every change to configs of groups raises, first of all. Written: by administrators. Read: by brokers
-- when anything was committed.
CREATE TABLE group_config_version (
    only_row                   smallint NOT NULL PRIMARY KEY,  -- always 1
    version                    bigint   NOT NULL
);

-- Configs of groups, which need not exist. Written: by administrators. Read: by brokers after a change.
CREATE TABLE group_config (
    group_name                 text     NOT NULL,
    name                       text     NOT NULL,
    value                      text     NOT NULL,
    PRIMARY KEY (group_name, name)
);

-- The one row that every change to ACLs, credentials and quotas raises, first of all. Written: by administrators. Read: by every
-- process when anything was committed.
CREATE TABLE access_version (
    only_row                   smallint NOT NULL PRIMARY KEY,  -- always 1
    version                    bigint   NOT NULL,
    secret                     text     NOT NULL               -- by which processes of the cluster know each other; never changes
);

-- Who may, or may not, do what. Written: by administrators. Read: by every process when the version has risen.
CREATE TABLE acl (
    resource                   text     NOT NULL,              -- a type, such as Topic
    pattern                    smallint NOT NULL,              -- 3 literal, 4 prefixed
    name                       text     NOT NULL,              -- * as a literal: every resource of the type
    principal                  text     NOT NULL,              -- such as User:alice
    host                       text     NOT NULL,              -- an address; * is every one
    operation                  smallint NOT NULL,              -- Kafka's number; 2 is all
    permission                 smallint NOT NULL,              -- 2 deny, 3 allow
    PRIMARY KEY (resource, pattern, name, principal, host, operation, permission)
);

-- What proves a user's password without revealing it. Written: by administrators. Read: as acl.
CREATE TABLE credential (
    user_name                  text     NOT NULL,
    mechanism                  smallint NOT NULL,              -- 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
    iterations                 integer  NOT NULL,
    salt                       bytea    NOT NULL,
    stored_key                 bytea    NOT NULL,
    server_key                 bytea    NOT NULL,
    PRIMARY KEY (user_name, mechanism)
);

-- How much a user or a client may ask of a broker. Written: by administrators. Read: as acl.
CREATE TABLE quota (
    user_name                  text     NOT NULL,              -- a name behind '='; '*' all others; '' not by user
    client_id                  text     NOT NULL,              -- the same for client ids
    kind                       text     NOT NULL,              -- Kafka's name
    per_second                 double precision NOT NULL,
    PRIMARY KEY (user_name, client_id, kind)
);

-- A transactional id: its producer, and the state of its transaction; until idle for a week. Written: by its producer, by
-- whoever takes the id over, and by the broker that finds its transaction timed out. Read: at commits of its batches.
CREATE TABLE transactional_id (
    id                         text     NOT NULL PRIMARY KEY,
    producer_id                bigint   NOT NULL UNIQUE,
    epoch                      integer  NOT NULL,
    last_producer_id           bigint   NOT NULL,              -- the identity before this one, if its producer asked for
    last_epoch                 integer  NOT NULL,              -- the change: it may ask again. -1: none
    timeout_ms                 bigint   NOT NULL,
    state                      smallint NOT NULL,              -- 1 empty, 2 ongoing
    number                     bigint   NOT NULL,              -- of its transactions that ended
    outcome                    smallint NOT NULL,              -- of the last one: 0 none, 1 committed, 2 aborted
    started_ms                 bigint,                         -- null unless ongoing
    touched_ms                 bigint   NOT NULL
);
CREATE INDEX transactional_id_ongoing ON transactional_id (started_ms) WHERE started_ms IS NOT NULL;

-- The partitions of an open transaction. Written: when one is added, and by the first commit to it; removed at the end.
CREATE TABLE transaction_partition (
    partition_id               bigint   NOT NULL,
    producer_id                bigint   NOT NULL,
    first_offset               bigint,                         -- null: added, and nothing written yet
    PRIMARY KEY (partition_id, producer_id)
);
CREATE INDEX transaction_partition_by_producer ON transaction_partition (producer_id);

-- Offsets of groups that an open transaction will commit. Written: by TxnOffsetCommit; removed at the end.
CREATE TABLE transaction_offset (
    producer_id                bigint   NOT NULL,
    group_name                 text     NOT NULL,
    topic_id                   bytea    NOT NULL,
    number                     integer  NOT NULL,
    next_offset                bigint   NOT NULL,
    leader_epoch               integer  NOT NULL,
    metadata                   bytea    NOT NULL,
    PRIMARY KEY (producer_id, group_name, topic_id, number)
);
CREATE INDEX transaction_offset_by_group ON transaction_offset (group_name);

-- Transactions that ended, by partition, until their offsets are in the table or deleted. Written: at their end. Read: by
-- fetches for the aborted ones, and by compaction.
CREATE TABLE ended_transaction (
    partition_id               bigint   NOT NULL,
    last_offset                bigint   NOT NULL,              -- of the marker
    first_offset               bigint   NOT NULL,
    producer_id                bigint   NOT NULL,
    number                     bigint   NOT NULL,              -- with producer_id it names the transaction
    committed                  smallint NOT NULL,              -- 1 committed, 0 aborted
    PRIMARY KEY (partition_id, last_offset)
);

-- Where open transactions hold readers up, and where the last aborted one ended. Both are null in partitions without
-- transactions, so that these pay nothing. Written: at the first commit of a transaction, and at its end.
ALTER TABLE partition ADD COLUMN unstable_from bigint;
ALTER TABLE partition ADD COLUMN last_aborted bigint;
