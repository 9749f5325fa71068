-- What someone asks to be done with values that were set aside. What each column is for: schema.sql.

CREATE TABLE repair (
    id                         TEXT NOT NULL PRIMARY KEY,
    topic_id                   BLOB NOT NULL,
    request                    TEXT NOT NULL,
    state                      INTEGER NOT NULL,
    answer                     TEXT,
    asked_ms                   INTEGER NOT NULL
);
CREATE INDEX repair_by_state ON repair (state, id);
