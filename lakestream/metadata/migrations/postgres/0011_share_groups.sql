-- Share groups, and configs of groups. What each table is for: schema.sql.

CREATE TABLE share_partition (
    group_name                 text NOT NULL,
    topic_id                   bytea NOT NULL,
    number                     integer NOT NULL,
    epoch                      bigint NOT NULL UNIQUE,
    owner_id                   integer NOT NULL,
    start_offset               bigint,
    done                       bigint NOT NULL,
    state                      bytea,
    PRIMARY KEY (group_name, topic_id, number)
);
CREATE INDEX share_partition_by_topic ON share_partition (topic_id);

CREATE TABLE group_config_version (
    only_row                   smallint NOT NULL PRIMARY KEY,
    version                    bigint NOT NULL
);
INSERT INTO group_config_version VALUES (1, 0);

CREATE TABLE group_config (
    group_name                 text NOT NULL,
    name                       text NOT NULL,
    value                      text NOT NULL,
    PRIMARY KEY (group_name, name)
);
