-- ACLs and credentials. What each table is for: schema.sql.

CREATE TABLE access_version (
    only_row                   INTEGER NOT NULL PRIMARY KEY,
    version                    INTEGER NOT NULL,
    secret                     TEXT NOT NULL
);
INSERT INTO access_version VALUES (1, 0, hex(randomblob(32)));

CREATE TABLE acl (
    resource                   TEXT NOT NULL,
    pattern                    INTEGER NOT NULL,
    name                       TEXT NOT NULL,
    principal                  TEXT NOT NULL,
    host                       TEXT NOT NULL,
    operation                  INTEGER NOT NULL,
    permission                 INTEGER NOT NULL,
    PRIMARY KEY (resource, pattern, name, principal, host, operation, permission)
);

CREATE TABLE credential (
    user_name                  TEXT NOT NULL,
    mechanism                  INTEGER NOT NULL,
    iterations                 INTEGER NOT NULL,
    salt                       BLOB NOT NULL,
    stored_key                 BLOB NOT NULL,
    server_key                 BLOB NOT NULL,
    PRIMARY KEY (user_name, mechanism)
);
