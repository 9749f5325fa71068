"""Reading a table file as a log, and looking offsets up by time."""
