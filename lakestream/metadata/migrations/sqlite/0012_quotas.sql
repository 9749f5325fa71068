-- Quotas. What the table is for: schema.sql.

CREATE TABLE quota (
    user_name                  TEXT NOT NULL,
    client_id                  TEXT NOT NULL,
    kind                       TEXT NOT NULL,
    per_second                 REAL NOT NULL,
    PRIMARY KEY (user_name, client_id, kind)
);
