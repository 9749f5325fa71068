-- The schema registry: schemas, subjects, versions, references. What each table is for: schema.sql.

CREATE TABLE registry (
    only_row                   INTEGER NOT NULL PRIMARY KEY,
    next_schema_id             INTEGER NOT NULL
);
INSERT INTO registry VALUES (1, 1);

CREATE TABLE registered_schema (
    id                         INTEGER NOT NULL PRIMARY KEY,
    guid                       TEXT NOT NULL UNIQUE,
    format                     TEXT NOT NULL,
    text                       TEXT NOT NULL,
    refs                       TEXT NOT NULL
);

CREATE TABLE schema_reference (
    schema_id                  INTEGER NOT NULL,
    subject                    TEXT NOT NULL,
    version                    INTEGER NOT NULL,
    PRIMARY KEY (schema_id, subject, version)
) WITHOUT ROWID;
CREATE INDEX schema_reference_by_target ON schema_reference (subject, version);

CREATE TABLE subject (
    name                       TEXT NOT NULL PRIMARY KEY,
    changes                    INTEGER NOT NULL,
    compatibility              TEXT,
    mode                       TEXT,
    normalize                  INTEGER
);

CREATE TABLE subject_version (
    subject                    TEXT NOT NULL,
    version                    INTEGER NOT NULL,
    schema_id                  INTEGER NOT NULL,
    deleted                    INTEGER NOT NULL,
    registered_ms              INTEGER NOT NULL,
    PRIMARY KEY (subject, version)
) WITHOUT ROWID;
CREATE INDEX subject_version_by_schema ON subject_version (schema_id);
