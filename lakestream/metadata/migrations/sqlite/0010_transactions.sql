-- Kafka transactions. What each column is for: schema.sql.

CREATE TABLE transactional_id (
    id                         TEXT NOT NULL PRIMARY KEY,
    producer_id                INTEGER NOT NULL UNIQUE,
    epoch                      INTEGER NOT NULL,
    last_producer_id           INTEGER NOT NULL,
    last_epoch                 INTEGER NOT NULL,
    timeout_ms                 INTEGER NOT NULL,
    state                      INTEGER NOT NULL,
    number                     INTEGER NOT NULL,
    outcome                    INTEGER NOT NULL,
    started_ms                 INTEGER,
    touched_ms                 INTEGER NOT NULL
);
CREATE INDEX transactional_id_ongoing ON transactional_id (started_ms) WHERE started_ms IS NOT NULL;

CREATE TABLE transaction_partition (
    partition_id               INTEGER NOT NULL,
    producer_id                INTEGER NOT NULL,
    first_offset               INTEGER,
    PRIMARY KEY (partition_id, producer_id)
);
CREATE INDEX transaction_partition_by_producer ON transaction_partition (producer_id);

CREATE TABLE transaction_offset (
    producer_id                INTEGER NOT NULL,
    group_name                 TEXT NOT NULL,
    topic_id                   BLOB NOT NULL,
    number                     INTEGER NOT NULL,
    next_offset                INTEGER NOT NULL,
    leader_epoch               INTEGER NOT NULL,
    metadata                   BLOB NOT NULL,
    PRIMARY KEY (producer_id, group_name, topic_id, number)
);
CREATE INDEX transaction_offset_by_group ON transaction_offset (group_name);

CREATE TABLE ended_transaction (
    partition_id               INTEGER NOT NULL,
    last_offset                INTEGER NOT NULL,
    first_offset               INTEGER NOT NULL,
    producer_id                INTEGER NOT NULL,
    number                     INTEGER NOT NULL,
    committed                  INTEGER NOT NULL,
    PRIMARY KEY (partition_id, last_offset)
);

ALTER TABLE partition ADD COLUMN unstable_from INTEGER;
ALTER TABLE partition ADD COLUMN last_aborted INTEGER;
