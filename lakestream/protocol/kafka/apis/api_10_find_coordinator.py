"""FindCoordinator (10), versions 0-6: the broker that coordinates a consumer group or a transactional id.

- Rendezvous hashing of the key chooses a live broker. Brokers that see the same live brokers give the same answer, and
  only a dead broker's share moves.
- For a transactional id the answer is a hint: any broker serves any id.
- A share group is found as a group. Coordinators of share-partitions, for which Kafka's brokers ask each other, do not
  exist and are refused: any broker serves any share-partition.

v1 key types and error messages. v3 flexible. v4 many keys at once. v5 allows TRANSACTION_ABORTABLE. v6
share-partitions.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.broker.groups.errors import CoordinatorNotAvailable
from lakestream.broker.groups.ownership import coordinator_of
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.broker import LiveBroker
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import find_coordinator
from lakestream.world.turns import in_turns

GROUP, TRANSACTION = 0, 1
MANY_KEYS_FROM_VERSION = 4
NOBODY = -1


async def handle(request: find_coordinator.Request, context: RequestContext) -> find_coordinator.Response:
    if context.api_version >= MANY_KEYS_FROM_VERSION:
        found = [
            _coordinator(key, request.key_type, context.broker) async for key in in_turns(request.coordinator_keys)
        ]
        return find_coordinator.Response(coordinators=found)
    return _alone(_coordinator(request.key, request.key_type, context.broker))


def _coordinator(key: str, key_type: int, broker: Broker) -> find_coordinator.Coordinator:
    try:
        _check_type(key_type)
        chosen = coordinator_of(broker.cluster.live(), key)
        _check_lease(chosen, broker)
    except LakestreamError as error:
        return _nobody(key, *kafka_error(error))
    return find_coordinator.Coordinator(key=key, node_id=chosen.id, host=chosen.host, port=chosen.port)


def _check_type(key_type: int) -> None:
    if key_type not in (GROUP, TRANSACTION):
        raise InvalidRequest(
            f"there are no coordinators of type {key_type}: only groups and transactional ids have one"
        )


def _check_lease(chosen: LiveBroker, broker: Broker) -> None:
    """Raise if this broker names itself without a lease: it would refuse the client, which would ask again for ever."""
    if chosen.id == broker.cluster.spec.id and not broker.cluster.is_held():
        raise CoordinatorNotAvailable("this broker has lost touch with the metadata store: ask again in a moment")


def _nobody(key: str, code: int, message: str) -> find_coordinator.Coordinator:
    return find_coordinator.Coordinator(key=key, node_id=NOBODY, port=NOBODY, error_code=code, error_message=message)


def _alone(found: find_coordinator.Coordinator) -> find_coordinator.Response:
    return find_coordinator.Response(
        node_id=found.node_id,
        host=found.host,
        port=found.port,
        error_code=found.error_code,
        error_message=found.error_message,
    )


def error_response(
    request: find_coordinator.Request, context: RequestContext, code: int, message: str
) -> find_coordinator.Response:
    if context.api_version >= MANY_KEYS_FROM_VERSION:
        return find_coordinator.Response(coordinators=[_nobody(key, code, message) for key in request.coordinator_keys])
    return _alone(_nobody(request.key, code, message))


API = Api(
    key=10,
    name="FindCoordinator",
    versions=(0, 6),
    needs=(
        Need(Operation.DESCRIBE, ResourceType.GROUP, scope="keys that are groups"),
        Need(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, scope="keys that are transactional ids"),
    ),
    handle=handle,
    error_response=error_response,
)
