-- ACLs and credentials. What each table is for: schema.sql.

CREATE TABLE access_version (
    only_row                   smallint NOT NULL PRIMARY KEY,
    version                    bigint NOT NULL,
    secret                     text NOT NULL
);
INSERT INTO access_version VALUES (1, 0, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

CREATE TABLE acl (
    resource                   text NOT NULL,
    pattern                    smallint NOT NULL,
    name                       text NOT NULL,
    principal                  text NOT NULL,
    host                       text NOT NULL,
    operation                  smallint NOT NULL,
    permission                 smallint NOT NULL,
    PRIMARY KEY (resource, pattern, name, principal, host, operation, permission)
);

CREATE TABLE credential (
    user_name                  text NOT NULL,
    mechanism                  smallint NOT NULL,
    iterations                 integer NOT NULL,
    salt                       bytea NOT NULL,
    stored_key                 bytea NOT NULL,
    server_key                 bytea NOT NULL,
    PRIMARY KEY (user_name, mechanism)
);
