-- Jobs write to one table each; topics that someone wants compacted now. What each table is for: schema.sql.

ALTER TABLE job RENAME COLUMN topics TO table_id;
CREATE INDEX job_by_state ON job (state, finished_ms);

CREATE TABLE compaction_ask (
    topic_id                   BLOB NOT NULL PRIMARY KEY,
    asked_ms                   INTEGER NOT NULL
);
