-- Bytes of small flushes, until they are moved into an object. What each column is for: schema.sql.
-- Rows live for seconds, so the space of dead ones must be found again soon: vacuum looks at how many there are, not at
-- their share. The bytes are stored as they are: batches are mostly compressed already.

CREATE TABLE inline_segment (
    id                         text COLLATE "C" NOT NULL PRIMARY KEY,
    bytes                      bigint   NOT NULL,
    committed_ms               bigint   NOT NULL,
    data                       bytea    NOT NULL
) WITH (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0,
    autovacuum_vacuum_insert_threshold = -1, vacuum_truncate = false,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_cost_delay = 0, toast.autovacuum_vacuum_insert_threshold = -1, toast.vacuum_truncate = false
);
ALTER TABLE inline_segment ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX span_inline ON span (segment_id) WHERE segment_id >= 'inline';

-- commit_segment_v1 for a segment whose bytes lie in this store. The bytes are inserted first: a repeated commit waits
-- for the first one there, and both then ask for the one fate. Bytes of a segment that no span refers to go at once: of
-- one that was abandoned, that stored nothing, or that was moved before this repeated commit came.
CREATE FUNCTION commit_inline_segment_v1(
    segment_data       bytea,
    the_segment        text,
    the_broker         integer,
    the_incarnation    bigint,
    segment_bytes      bigint,
    receipts           text[],
    partition_ids      bigint[],
    slot_partitions    bigint[],
    slot_producers     bigint[],
    batch_partitions   integer[],
    batch_slots        integer[],
    batch_ats          bigint[],
    batch_lengths      bigint[],
    batch_records      bigint[],
    batch_timestamps   bigint[],
    batch_appends      bigint[],
    batch_epochs       integer[],
    batch_sequences    bigint[],
    OUT fate_state     smallint,
    OUT fate_results   bytea
) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO inline_segment VALUES (the_segment, octet_length(segment_data), now_ms(), segment_data)
        ON CONFLICT (id) DO NOTHING;
    SELECT fate.fate_state, fate.fate_results INTO fate_state, fate_results FROM commit_segment_v1(
        the_segment, the_broker, the_incarnation, segment_bytes, receipts, partition_ids, slot_partitions,
        slot_producers, batch_partitions, batch_slots, batch_ats, batch_lengths, batch_records, batch_timestamps,
        batch_appends, batch_epochs, batch_sequences) AS fate;
    DELETE FROM inline_segment WHERE id = the_segment
        AND EXISTS (SELECT 1 FROM segment WHERE segment.id = the_segment AND dead_since_ms IS NOT NULL);
END
$$;
