-- Kafka transactions. What each column is for: schema.sql.

CREATE TABLE transactional_id (
    id                         text NOT NULL PRIMARY KEY,
    producer_id                bigint NOT NULL UNIQUE,
    epoch                      integer NOT NULL,
    last_producer_id           bigint NOT NULL,
    last_epoch                 integer NOT NULL,
    timeout_ms                 bigint NOT NULL,
    state                      smallint NOT NULL,
    number                     bigint NOT NULL,
    outcome                    smallint NOT NULL,
    started_ms                 bigint,
    touched_ms                 bigint NOT NULL
);
CREATE INDEX transactional_id_ongoing ON transactional_id (started_ms) WHERE started_ms IS NOT NULL;

CREATE TABLE transaction_partition (
    partition_id               bigint NOT NULL,
    producer_id                bigint NOT NULL,
    first_offset               bigint,
    PRIMARY KEY (partition_id, producer_id)
);
CREATE INDEX transaction_partition_by_producer ON transaction_partition (producer_id);

CREATE TABLE transaction_offset (
    producer_id                bigint NOT NULL,
    group_name                 text NOT NULL,
    topic_id                   bytea NOT NULL,
    number                     integer NOT NULL,
    next_offset                bigint NOT NULL,
    leader_epoch               integer NOT NULL,
    metadata                   bytea NOT NULL,
    PRIMARY KEY (producer_id, group_name, topic_id, number)
);
CREATE INDEX transaction_offset_by_group ON transaction_offset (group_name);

CREATE TABLE ended_transaction (
    partition_id               bigint NOT NULL,
    last_offset                bigint NOT NULL,
    first_offset               bigint NOT NULL,
    producer_id                bigint NOT NULL,
    number                     bigint NOT NULL,
    committed                  smallint NOT NULL,
    PRIMARY KEY (partition_id, last_offset)
);

ALTER TABLE partition ADD COLUMN unstable_from bigint;
ALTER TABLE partition ADD COLUMN last_aborted bigint;
