-- The store's clock: the one that judges leases, graces and retention.
CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN floor(extract(epoch FROM clock_timestamp()) * 1000);

-- commit_segment in one round trip: what metadata/placing.py and sequencing.py say, beside the rows it concerns.
-- A later version of the function gets a later name, so that brokers of two versions can share a store while they are
-- being replaced.
--
-- `partition_ids` are distinct and ascending, and batches point into them (from 1); `slots` are the distinct
-- (partition, producer) pairs, and batches of a producer point into those (0: no producer).
-- The segment's own row is inserted first, although segments come last in the lock order: only those who ask for the
-- fate of this very segment can wait for it, and they hold nothing else.
CREATE FUNCTION commit_segment_v1(
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
DECLARE
    stored             CONSTANT integer := 0;
    duplicate          CONSTANT integer := 1;
    out_of_order       CONSTANT integer := 2;
    unknown_producer   CONSTANT integer := 3;
    stale_epoch        CONSTANT integer := 4;
    duplicate_too_old  CONSTANT integer := 5;
    unknown_partition  CONSTANT integer := 6;
    sequences          CONSTANT bigint := 2147483648;  -- they count from 0 and start again here
    none_recent        CONSTANT bigint[] := array_fill(-1::bigint, ARRAY[20]);
    per_batch          CONSTANT integer[] := ARRAY[greatest(cardinality(batch_ats), 1)];
    per_partition      CONSTANT integer[] := ARRAY[greatest(cardinality(partition_ids), 1)];
    per_slot           CONSTANT integer[] := ARRAY[greatest(cardinality(slot_producers), 1)];

    commit_ms          bigint;
    found_partition    record;

    log_starts         bigint[] := array_fill(NULL::bigint, per_partition);   -- NULL: there is no such partition
    next_offsets       bigint[] := array_fill(0::bigint, per_partition);
    bytes_added        bigint[] := array_fill(0::bigint, per_partition);
    running            bigint[] := array_fill(0::bigint, per_partition);
    last_spans         integer[] := array_fill(0, per_partition);

    slot_epochs        integer[];   -- NULL: nothing is known of the producer here
    slot_counts        integer[];   -- how many of its batches are known
    slot_recent        bigint[];    -- per slot 5 x (base sequence, last sequence, base offset, append_ms), oldest first
    slot_written       boolean[] := array_fill(false, per_slot);

    statuses           integer[] := array_fill(stored, per_batch);
    bases              bigint[] := array_fill(-1::bigint, per_batch);
    appends            bigint[] := array_fill(-1::bigint, per_batch);
    starts             bigint[] := array_fill(-1::bigint, per_batch);

    spans              integer := 0;
    span_partitions    integer[] := array_fill(0, per_batch);
    span_bases         bigint[] := array_fill(0::bigint, per_batch);
    span_lasts         bigint[] := array_fill(0::bigint, per_batch);
    span_ats           bigint[] := array_fill(0::bigint, per_batch);
    span_lengths       bigint[] := array_fill(0::bigint, per_batch);
    span_timestamps    bigint[] := array_fill(0::bigint, per_batch);
    span_running       bigint[] := array_fill(0::bigint, per_batch);
    span_appends       bigint[] := array_fill(0::bigint, per_batch);

    p                  integer := 1;
    s                  integer;
    k                  integer;
    known              integer;
    status             integer;
    epoch_             integer;
    sequence           bigint;
    last_sequence      bigint;
BEGIN
    -- One fate: the first to insert the row decides it, everyone else reads it.
    INSERT INTO segment (id, state, broker_id, bytes, decided_ms, span_count)
        VALUES (the_segment, 1, the_broker, segment_bytes, now_ms(), 0) ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
        SELECT state, results INTO fate_state, fate_results FROM segment WHERE id = the_segment;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the segment was forgotten meanwhile' USING ERRCODE = 'serialization_failure';
        END IF;
        RETURN;
    END IF;

    -- Shared, so that commits of a broker run side by side while a new incarnation waits for them.
    commit_ms := now_ms();
    PERFORM 1 FROM broker
        WHERE id = the_broker AND incarnation = the_incarnation AND lease_until_ms > commit_ms FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'broker fenced' USING ERRCODE = 'LS001';
    END IF;

    FOR found_partition IN SELECT * FROM partition WHERE id = ANY (partition_ids) ORDER BY id FOR UPDATE LOOP
        WHILE partition_ids[p] < found_partition.id LOOP
            p := p + 1;
        END LOOP;
        log_starts[p] := found_partition.log_start;
        next_offsets[p] := found_partition.next_offset;
        running[p] := found_partition.running_max_timestamp_ms;
    END LOOP;

    IF cardinality(slot_producers) > 0 THEN
        SELECT array_agg(producer.epoch ORDER BY n),
               array_agg(coalesce(cardinality(producer.recent) / 4, 0) ORDER BY n),
               array_agg((coalesce(producer.recent, '{}') || none_recent)[1:20] ORDER BY n)
        INTO slot_epochs, slot_counts, slot_recent
        FROM unnest(slot_partitions, slot_producers) WITH ORDINALITY AS slot (partition_id, producer_id, n)
        LEFT JOIN producer USING (partition_id, producer_id);
    END IF;

    FOR i IN 1 .. cardinality(batch_ats) LOOP
        p := batch_partitions[i];
        IF log_starts[p] IS NULL THEN
            statuses[i] := unknown_partition;
            CONTINUE;
        END IF;
        starts[i] := log_starts[p];

        s := batch_slots[i];
        IF s > 0 THEN
            epoch_ := slot_epochs[s];
            known := slot_counts[s];
            sequence := batch_sequences[i];
            last_sequence := (sequence + batch_records[i] - 1) % sequences;
            IF epoch_ IS NULL THEN
                status := CASE WHEN sequence = 0 THEN stored ELSE unknown_producer END;
            ELSIF batch_epochs[i] < epoch_ THEN
                status := stale_epoch;
            ELSIF batch_epochs[i] > epoch_ THEN
                status := CASE WHEN sequence = 0 THEN stored ELSE out_of_order END;
            ELSIF sequence = (slot_recent[s][4 * known - 2] + 1) % sequences THEN
                status := stored;
            ELSE
                status := out_of_order;
                FOR r IN 0 .. known - 1 LOOP
                    IF slot_recent[s][4 * r + 1] = sequence AND slot_recent[s][4 * r + 2] = last_sequence THEN
                        status := duplicate;
                        bases[i] := slot_recent[s][4 * r + 3];
                        appends[i] := slot_recent[s][4 * r + 4];
                        EXIT;
                    END IF;
                END LOOP;
                IF status = out_of_order AND known = 5
                   AND (slot_recent[s][1] - last_sequence + sequences) % sequences BETWEEN 1 AND sequences / 2 - 1 THEN
                    status := duplicate_too_old;
                END IF;
            END IF;
            IF status <> stored THEN
                statuses[i] := status;
                CONTINUE;
            END IF;

            IF epoch_ IS NULL OR batch_epochs[i] <> epoch_ THEN
                known := 0;
                slot_epochs[s] := batch_epochs[i];
            ELSIF known = 5 THEN
                FOR r IN 1 .. 16 LOOP
                    slot_recent[s][r] := slot_recent[s][r + 4];
                END LOOP;
                known := 4;
            END IF;
            slot_recent[s][4 * known + 1] := sequence;
            slot_recent[s][4 * known + 2] := last_sequence;
            slot_recent[s][4 * known + 3] := next_offsets[p];
            slot_recent[s][4 * known + 4] := batch_appends[i];
            slot_counts[s] := known + 1;
            slot_written[s] := true;
        END IF;

        bases[i] := next_offsets[p];
        appends[i] := batch_appends[i];
        next_offsets[p] := next_offsets[p] + batch_records[i];
        bytes_added[p] := bytes_added[p] + batch_lengths[i];
        running[p] := greatest(running[p], batch_timestamps[i]);

        k := last_spans[p];
        IF k > 0 AND batch_ats[i] = span_ats[k] + span_lengths[k] AND batch_appends[i] = span_appends[k] THEN
            span_lengths[k] := span_lengths[k] + batch_lengths[i];
            span_timestamps[k] := greatest(span_timestamps[k], batch_timestamps[i]);
        ELSE
            spans := spans + 1;
            k := spans;
            last_spans[p] := k;
            span_partitions[k] := p;
            span_bases[k] := bases[i];
            span_ats[k] := batch_ats[i];
            span_lengths[k] := batch_lengths[i];
            span_timestamps[k] := batch_timestamps[i];
            span_appends[k] := batch_appends[i];
        END IF;
        span_lasts[k] := next_offsets[p] - 1;
        span_running[k] := running[p];
    END LOOP;

    UPDATE partition
        SET next_offset = grown.ending, bytes = bytes + grown.added, running_max_timestamp_ms = grown.latest
        FROM unnest(partition_ids, next_offsets, bytes_added, running) AS grown (id, ending, added, latest)
        WHERE partition.id = grown.id AND grown.added > 0;

    INSERT INTO span
        SELECT partition_ids[row.p], row.base, row.last, the_segment, row.at_, row.length_, row.latest, row.running,
               row.append, commit_ms
        FROM unnest(span_partitions, span_bases, span_lasts, span_ats, span_lengths, span_timestamps, span_running,
                    span_appends)
             WITH ORDINALITY AS row (p, base, last, at_, length_, latest, running, append, n)
        WHERE row.n <= spans;

    INSERT INTO producer
        SELECT slot_partitions[n], slot_producers[n], slot_epochs[n],
               ARRAY(SELECT slot_recent[n][r] FROM generate_series(1, 4 * slot_counts[n]) AS r), commit_ms
        FROM generate_series(1, cardinality(slot_producers)) AS n
        WHERE slot_written[n]
        ON CONFLICT (partition_id, producer_id)
        DO UPDATE SET epoch = excluded.epoch, recent = excluded.recent, written_ms = excluded.written_ms;

    -- The layout of metadata/kept_results.py.
    fate_state := 1;
    SELECT '\x01'::bytea || coalesce(string_agg(
               int2send(row.status::smallint) || int8send(row.base) || int8send(row.append) || int8send(row.start),
               ''::bytea ORDER BY row.n), ''::bytea)
        INTO fate_results
        FROM unnest(statuses, bases, appends, starts) WITH ORDINALITY AS row (status, base, append, start, n)
        WHERE row.n <= cardinality(batch_ats);
    UPDATE segment
        SET results = fate_results, span_count = spans, dead_since_ms = CASE WHEN spans = 0 THEN commit_ms END
        WHERE id = the_segment;

    PERFORM 1 FROM segment WHERE id = ANY (receipts) ORDER BY id FOR UPDATE;
    UPDATE segment SET results = NULL, receipted_in = the_segment WHERE id = ANY (receipts) AND state = 1;
END
$$;

-- The first span of a partition with a record of this time or later. Bisects to where the running maximum reaches the
-- time; should the span that raised it be dropped, the first later one that is itself late enough is the answer.
-- STABLE: all its statements see the moment of the query that calls it.
CREATE FUNCTION span_at_time_v1(the_partition bigint, the_time bigint) RETURNS SETOF span LANGUAGE plpgsql STABLE AS $$
DECLARE
    low      bigint;
    high     bigint;
    middle   bigint;
    found    record;
BEGIN
    SELECT coalesce(min(last_offset), 0), coalesce(max(last_offset), 0) + 1 INTO low, high
        FROM span WHERE partition_id = the_partition;
    WHILE low < high LOOP
        middle := (low + high) / 2;
        SELECT last_offset, running_max_timestamp_ms INTO found
            FROM span WHERE partition_id = the_partition AND last_offset >= middle ORDER BY last_offset LIMIT 1;
        IF found.running_max_timestamp_ms >= the_time THEN
            high := middle;
        ELSE
            low := coalesce(found.last_offset, middle) + 1;
        END IF;
    END LOOP;
    RETURN QUERY SELECT * FROM span
        WHERE partition_id = the_partition AND last_offset >= low AND max_timestamp_ms >= the_time
        ORDER BY last_offset LIMIT 1;
END
$$;
