-- Bytes of small flushes, until they are moved into an object. What each column is for: schema.sql.

CREATE TABLE inline_segment (
    id                         text     NOT NULL PRIMARY KEY,
    bytes                      bigint   NOT NULL,
    committed_ms               bigint   NOT NULL,
    data                       bytea    NOT NULL
);
CREATE INDEX span_inline ON span (segment_id) WHERE segment_id >= 'inline';
