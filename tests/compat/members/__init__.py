"""Members of consumer groups as programs of their own, one for each client library, so that they can be killed.

They read one command a line and answer with one line of JSON, as the drivers do, and poll in between:

    state         partitions assigned now, records read since the start, partitions ever taken away
    commit        synchronously what was read; commit_async does not wait, and is answered when it is done
    committed     the group's offsets by partition
    seek, pause, resume, lag, close
"""
