-- Consumer groups and their offsets. What each table is for: schema.sql.

CREATE TABLE group_epoch (
    only_row                   INTEGER NOT NULL PRIMARY KEY,
    last_epoch                 INTEGER NOT NULL
);
INSERT INTO group_epoch VALUES (1, 0);

CREATE TABLE consumer_group (
    name                       TEXT NOT NULL PRIMARY KEY,
    epoch                      INTEGER NOT NULL,
    owner_id                   INTEGER NOT NULL,
    kind                       INTEGER NOT NULL,
    protocol_type              TEXT NOT NULL,
    generation                 INTEGER NOT NULL,
    occupied                   INTEGER NOT NULL,
    empty_since_ms             INTEGER,
    subscribed                 TEXT,
    state                      BLOB
);

CREATE TABLE group_offset (
    group_name                 TEXT NOT NULL,
    topic_id                   BLOB NOT NULL,
    number                     INTEGER NOT NULL,
    next_offset                INTEGER NOT NULL,
    leader_epoch               INTEGER NOT NULL,
    metadata                   BLOB NOT NULL,
    committed_ms               INTEGER NOT NULL,
    retention_ms               INTEGER,
    PRIMARY KEY (group_name, topic_id, number)
) WITHOUT ROWID;
CREATE INDEX group_offset_by_topic ON group_offset (topic_id);
