"""Protobuf schemas: .proto text or descriptors, linked by protobuf's own library, compared by field numbers.

text -> tokens -> parsing -> FileDescriptorProto -> linking (names, options, rules) -> printing | comparing
"""
