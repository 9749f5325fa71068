-- Share groups, and configs of groups. What each table is for: schema.sql.

CREATE TABLE share_partition (
    group_name                 TEXT NOT NULL,
    topic_id                   BLOB NOT NULL,
    number                     INTEGER NOT NULL,
    epoch                      INTEGER NOT NULL UNIQUE,
    owner_id                   INTEGER NOT NULL,
    start_offset               INTEGER,
    done                       INTEGER NOT NULL,
    state                      BLOB,
    PRIMARY KEY (group_name, topic_id, number)
);
CREATE INDEX share_partition_by_topic ON share_partition (topic_id);

CREATE TABLE group_config_version (
    only_row                   INTEGER NOT NULL PRIMARY KEY,
    version                    INTEGER NOT NULL
);
INSERT INTO group_config_version VALUES (1, 0);

CREATE TABLE group_config (
    group_name                 TEXT NOT NULL,
    name                       TEXT NOT NULL,
    value                      TEXT NOT NULL,
    PRIMARY KEY (group_name, name)
);
