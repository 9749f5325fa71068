"""Binds a writer to the codec of its format."""

from lakestream.contract.codecs.avro.codec import bind as bind_avro
from lakestream.contract.codecs.codec import ValueCodec, Writer
from lakestream.contract.codecs.json.codec import bind as bind_json
from lakestream.contract.codecs.protobuf.codec import bind as bind_protobuf
from lakestream.contract.codecs.string.codec import bind as bind_string
from lakestream.contract.columns.layout import Layout


def bind(writer: Writer, layout: Layout, *, declared: bool = False) -> ValueCodec:
    """Raises ValueError for a format, or a version of its rules, that this version does not know."""
    match writer.format:
        case "avro":
            return bind_avro(writer, layout)
        case "json":
            return bind_json(writer, layout, declared=declared)
        case "protobuf":
            return bind_protobuf(writer, layout)
        case "string":
            return bind_string(writer, layout)
    raise ValueError(f"format {writer.format} is not known: a newer Lakestream reads it")
