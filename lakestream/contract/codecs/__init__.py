"""Value codecs: bytes of records to typed columns and back, many at a time.

    codec = bind(writer, layout) -> codec.decode(values) -> columns, and which of them give the bytes back exactly
                                 -> codec.encode(columns) -> the bytes

One folder for each format. A codec's rules have a version, which is stored with what was written by it: versions are
never removed, since replay of old files goes by them.
"""
