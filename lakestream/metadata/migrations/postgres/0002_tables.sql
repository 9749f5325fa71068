-- Tables: namespaces, pointers, file spans, jobs, leases with fencing tokens. What each table is for: schema.sql.

CREATE TABLE namespace (
    name                       text COLLATE "C" NOT NULL PRIMARY KEY,
    parent                     text COLLATE "C" NOT NULL,
    properties                 text     NOT NULL,
    created_ms                 bigint   NOT NULL
);
CREATE INDEX namespace_by_parent ON namespace (parent, name);

CREATE TABLE lake_table (
    id                         text     NOT NULL PRIMARY KEY,
    namespace                  text COLLATE "C" NOT NULL,
    name                       text COLLATE "C" NOT NULL,
    kind                       text     NOT NULL,
    metadata_location          text     NOT NULL,
    topic_id                   bytea    UNIQUE,
    changed_ms                 bigint   NOT NULL,
    UNIQUE (namespace, name)
) WITH (fillfactor = 50);

CREATE TABLE receipt (
    key                        text     NOT NULL PRIMARY KEY,
    request                    text     NOT NULL,
    answer                     text     NOT NULL,
    created_ms                 bigint   NOT NULL
);
CREATE INDEX receipt_by_age ON receipt (created_ms);

ALTER TABLE partition ADD COLUMN tabled_until bigint NOT NULL DEFAULT 0;

CREATE TABLE file_span (
    partition_id               bigint   NOT NULL,
    base_offset                bigint   NOT NULL,
    last_offset                bigint   NOT NULL,
    table_id                   text     NOT NULL,
    file                       text     NOT NULL,
    log_file                   text,
    rows                       bigint   NOT NULL,
    bytes                      bigint   NOT NULL,
    max_timestamp_ms           bigint   NOT NULL,
    running_max_timestamp_ms   bigint   NOT NULL,
    committed_ms               bigint   NOT NULL,
    PRIMARY KEY (partition_id, last_offset)
);
CREATE INDEX file_span_by_time ON file_span (partition_id, running_max_timestamp_ms, last_offset);

CREATE TABLE job (
    id                         text COLLATE "C" NOT NULL PRIMARY KEY,
    state                      smallint NOT NULL,
    token                      bigint   NOT NULL,
    topics                     text     NOT NULL,
    created_ms                 bigint   NOT NULL,
    finished_ms                bigint,
    answer                     text
);

CREATE TABLE lease (
    name                       text     NOT NULL PRIMARY KEY,
    holder                     text     NOT NULL,
    token                      bigint   NOT NULL,
    until_ms                   bigint   NOT NULL
);
