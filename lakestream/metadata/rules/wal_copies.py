"""Constants for finding records that lie both in the WAL and in their table. Times decide, so no commit pays for it.

    segments whose objects are there  ->  the seconds in which they were committed
    file spans, newest first          ->  those whose records were committed in such a second, summed by topic

A file span knows when the last of its records were committed to the WAL, and so does every segment. Records that a job
moved count until the last of its source objects is gone. The alternative, naming the segments of every file span, would
take a row for each topic in each segment for as long as the grace: millions of rows for a figure that people look at
now and then.
"""

SECOND_MS = 1_000
"""The precision of the comparison. A commit in PostgreSQL reads the clock twice, before and after it has its locks, so
the second before counts as well."""
SPANS_BACK_MAX = 5_000
"""Most file spans of one partition that the query reads: fourteen hours of commits every ten seconds. A topic that
cannot be compacted may keep single segments for longer; the query misses its neighbours' records of that time."""
MOVED_SECONDS_MAX = 10
"""A segment of moved inline bytes was committed some seconds after its records. So it counts for so many seconds before
its own. Records that lay inline for longer, since the object store was away, are missed."""
