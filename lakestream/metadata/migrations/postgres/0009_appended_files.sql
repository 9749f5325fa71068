-- Files that engines append to a topic's table are stretches of its log: they have no offsets of their own, and an object
-- describes how their rows become records.
ALTER TABLE file_span ADD COLUMN encoding text;
ALTER TABLE partition ADD COLUMN appended_until bigint NOT NULL DEFAULT 0;
