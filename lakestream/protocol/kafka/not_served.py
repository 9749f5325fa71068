"""Why each API of Apache Kafka that is not served is not. docs/reference/kafka.md is generated from this list."""

from collections.abc import Mapping
from types import MappingProxyType

_AMONG_REPLICAS = "among replicas, of which there are none: the object store replicates"
_QUORUM = "among Kafka's controllers; the metadata store needs none"
_REGISTRATION = "between Kafka's brokers and controllers; brokers register in the metadata store"
_TOKENS = "delegation tokens are not built: log in by SCRAM or by certificate"
_QUOTAS = "quotas are not built"
_SHARE_STATE = "between Kafka's brokers and its share coordinators; the state is in the metadata store"
_STREAMS = "Streams groups (KIP-1071) are not built: Kafka Streams uses consumer groups"
_VOTERS = "changes Kafka's quorum of controllers; the metadata store is set up where it runs"
_TELEMETRY = "clients' own metrics are not gathered; clients do without"

NOT_SERVED: Mapping[int, str] = MappingProxyType(
    {
        38: _TOKENS,
        39: _TOKENS,
        40: _TOKENS,
        41: _TOKENS,
        48: _QUOTAS,
        49: _QUOTAS,
        52: _QUORUM,
        53: _QUORUM,
        54: _QUORUM,
        56: _AMONG_REPLICAS,
        58: _REGISTRATION,
        59: _QUORUM,
        62: _REGISTRATION,
        63: _REGISTRATION,
        64: _REGISTRATION,
        67: "between Kafka's brokers and controllers; producer ids come from the metadata store",
        70: _REGISTRATION,
        71: _TELEMETRY,
        72: _TELEMETRY,
        73: _AMONG_REPLICAS,
        80: _VOTERS,
        81: _VOTERS,
        82: _VOTERS,
        83: _SHARE_STATE,
        84: _SHARE_STATE,
        85: _SHARE_STATE,
        86: _SHARE_STATE,
        87: _SHARE_STATE,
        88: _STREAMS,
        89: _STREAMS,
    }
)
