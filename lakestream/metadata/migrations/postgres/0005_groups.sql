-- Consumer groups and their offsets. What each table is for: schema.sql.

CREATE TABLE group_epoch (
    only_row                   smallint NOT NULL PRIMARY KEY,
    last_epoch                 bigint NOT NULL
);
INSERT INTO group_epoch VALUES (1, 0);

CREATE TABLE consumer_group (
    name                       text NOT NULL PRIMARY KEY,
    epoch                      bigint NOT NULL,
    owner_id                   integer NOT NULL,
    kind                       smallint NOT NULL,
    protocol_type              text NOT NULL,
    generation                 bigint NOT NULL,
    occupied                   smallint NOT NULL,
    empty_since_ms             bigint,
    subscribed                 text,
    state                      bytea
);

CREATE TABLE group_offset (
    group_name                 text NOT NULL,
    topic_id                   bytea NOT NULL,
    number                     integer NOT NULL,
    next_offset                bigint NOT NULL,
    leader_epoch               integer NOT NULL,
    metadata                   bytea NOT NULL,
    committed_ms               bigint NOT NULL,
    retention_ms               bigint,
    PRIMARY KEY (group_name, topic_id, number)
);
CREATE INDEX group_offset_by_topic ON group_offset (topic_id);
