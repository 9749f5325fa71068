-- Tables: namespaces, pointers, file spans, jobs, leases with fencing tokens. What each table is for: schema.sql.

CREATE TABLE namespace (
    name                       TEXT NOT NULL PRIMARY KEY,
    parent                     TEXT NOT NULL,
    properties                 TEXT NOT NULL,
    created_ms                 INTEGER NOT NULL
);
CREATE INDEX namespace_by_parent ON namespace (parent, name);

CREATE TABLE lake_table (
    id                         TEXT NOT NULL PRIMARY KEY,
    namespace                  TEXT NOT NULL,
    name                       TEXT NOT NULL,
    kind                       TEXT NOT NULL,
    metadata_location          TEXT NOT NULL,
    topic_id                   BLOB UNIQUE,
    changed_ms                 INTEGER NOT NULL,
    UNIQUE (namespace, name)
);

CREATE TABLE receipt (
    key                        TEXT NOT NULL PRIMARY KEY,
    request                    TEXT NOT NULL,
    answer                     TEXT NOT NULL,
    created_ms                 INTEGER NOT NULL
);
CREATE INDEX receipt_by_age ON receipt (created_ms);

ALTER TABLE partition ADD COLUMN tabled_until INTEGER NOT NULL DEFAULT 0;

CREATE TABLE file_span (
    partition_id               INTEGER NOT NULL,
    base_offset                INTEGER NOT NULL,
    last_offset                INTEGER NOT NULL,
    table_id                   TEXT NOT NULL,
    file                       TEXT NOT NULL,
    log_file                   TEXT,
    rows                       INTEGER NOT NULL,
    bytes                      INTEGER NOT NULL,
    max_timestamp_ms           INTEGER NOT NULL,
    running_max_timestamp_ms   INTEGER NOT NULL,
    committed_ms               INTEGER NOT NULL,
    PRIMARY KEY (partition_id, last_offset)
) WITHOUT ROWID;
CREATE INDEX file_span_by_time ON file_span (partition_id, running_max_timestamp_ms, last_offset);

CREATE TABLE job (
    id                         TEXT NOT NULL PRIMARY KEY,
    state                      INTEGER NOT NULL,
    token                      INTEGER NOT NULL,
    topics                     TEXT NOT NULL,
    created_ms                 INTEGER NOT NULL,
    finished_ms                INTEGER,
    answer                     TEXT
);

CREATE TABLE lease (
    name                       TEXT NOT NULL PRIMARY KEY,
    holder                     TEXT NOT NULL,
    token                      INTEGER NOT NULL,
    until_ms                   INTEGER NOT NULL
);
