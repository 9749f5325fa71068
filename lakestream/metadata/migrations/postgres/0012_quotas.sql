-- Quotas. What the table is for: schema.sql.

CREATE TABLE quota (
    user_name                  text NOT NULL,
    client_id                  text NOT NULL,
    kind                       text NOT NULL,
    per_second                 double precision NOT NULL,
    PRIMARY KEY (user_name, client_id, kind)
);
