"""Which records lie in the WAL although they are in their table: told from times, so that no commit pays for it.

    segments whose objects are there  ->  the seconds in which they were committed
    file spans, newest first          ->  those whose records were committed in such a second, summed by topic

A file span knows when the last of its records were committed to the WAL, and so does every segment. What a job moved
counts until the last object that it was moved from is gone. Naming the segments of every file span instead would take
a row for each topic in each segment, for as long as the grace: millions of them for a figure that is looked at now and
then.
"""

SECOND_MS = 1_000
"""How exactly times are compared. A commit in PostgreSQL reads the clock twice, before and after it has its locks, so
the second before counts as well."""
SPANS_BACK_MAX = 5_000
"""File spans of one partition that are looked at: fourteen hours of commits every ten seconds. A topic that cannot be
compacted may keep single segments for longer; its neighbours' records of that time are not looked for."""
