-- What someone asks to be done with values that were set aside. What each column is for: schema.sql.

CREATE TABLE repair (
    id                         text NOT NULL PRIMARY KEY,
    topic_id                   bytea NOT NULL,
    request                    text NOT NULL,
    state                      smallint NOT NULL,
    answer                     text,
    asked_ms                   bigint NOT NULL
);
CREATE INDEX repair_by_state ON repair (state, id);
