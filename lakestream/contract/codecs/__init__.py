"""Value codecs: bytes of records to typed columns and back, many at a time.

    codec = bind(writer, layout) -> codec.decode(values) -> columns, and which of them give the bytes back exactly
                                 -> codec.encode(columns) -> the bytes

There is one folder for each format. A codec's rules have a version, which each file stores. Versions are never removed,
since replay of old files needs them.
"""
