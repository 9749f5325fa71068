"""Protobuf messages without a compiler: three files, one importing the others, made into classes."""

from typing import Any

from google.protobuf import descriptor_pb2, message_factory, timestamp_pb2
from google.protobuf.descriptor_pool import DescriptorPool

_F = descriptor_pb2.FieldDescriptorProto


def order_class(*, with_note: bool = False) -> Any:
    """shop.Order of shop/order.proto, which imports common/money.proto and Protobuf's own timestamp."""
    pool = DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(_money().SerializeToString())
    pool.AddSerializedFile(_order(with_note).SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))


def _money() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="common/money.proto", package="common", syntax="proto3")
    money = file.message_type.add(name="Money")
    _add(money, "cents", 1, _F.TYPE_SINT64)
    return file


def _order(with_note: bool) -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="shop/order.proto", package="shop", syntax="proto3")
    file.dependency.extend(["common/money.proto", "google/protobuf/timestamp.proto"])
    _add(file.message_type.add(name="Unused"), "nothing", 1, _F.TYPE_BOOL)
    order = file.message_type.add(name="Order")
    _add(order, "id", 1, _F.TYPE_STRING)
    _add(order, "total", 2, _F.TYPE_MESSAGE, type_name=".common.Money")
    _add(order, "at", 3, _F.TYPE_MESSAGE, type_name=".google.protobuf.Timestamp")
    _add(order, "tags", 4, _F.TYPE_STRING, label=_F.LABEL_REPEATED)
    if with_note:
        _add(order, "note", 5, _F.TYPE_STRING)
    return file


def _add(message: Any, name: str, number: int, type: int, **more: Any) -> None:
    message.field.add(**{"name": name, "number": number, "type": type, "label": _F.LABEL_OPTIONAL, **more})
