"""Compiles the kernels of all formats into Numba's cache."""

from lakestream.contract.codecs.avro.warm import warm as warm_avro
from lakestream.contract.codecs.json.warm import warm as warm_json
from lakestream.contract.codecs.protobuf.warm import warm as warm_protobuf


def warm() -> int:
    """Use every kernel once, as the product does. Returns how many had to be compiled."""
    return warm_avro() + warm_json() + warm_protobuf()
