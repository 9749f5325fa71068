-- The schema registry: schemas, subjects, versions, references. What each table is for: schema.sql.

CREATE TABLE registry (
    only_row                   smallint NOT NULL PRIMARY KEY,
    next_schema_id             bigint   NOT NULL
);
INSERT INTO registry VALUES (1, 1);

CREATE TABLE registered_schema (
    id                         bigint   NOT NULL PRIMARY KEY,
    guid                       text     NOT NULL UNIQUE,
    format                     text     NOT NULL,
    text                       text     NOT NULL,
    refs                       text     NOT NULL
);

CREATE TABLE schema_reference (
    schema_id                  bigint   NOT NULL,
    subject                    text COLLATE "C" NOT NULL,
    version                    bigint   NOT NULL,
    PRIMARY KEY (schema_id, subject, version)
);
CREATE INDEX schema_reference_by_target ON schema_reference (subject, version);

CREATE TABLE subject (
    name                       text COLLATE "C" NOT NULL PRIMARY KEY,
    changes                    bigint   NOT NULL,
    compatibility              text,
    mode                       text,
    normalize                  smallint
);

CREATE TABLE subject_version (
    subject                    text COLLATE "C" NOT NULL,
    version                    bigint   NOT NULL,
    schema_id                  bigint   NOT NULL,
    deleted                    smallint NOT NULL,
    registered_ms              bigint   NOT NULL,
    PRIMARY KEY (subject, version)
);
CREATE INDEX subject_version_by_schema ON subject_version (schema_id);
