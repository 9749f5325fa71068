"""A share-partition's state as bytes: version (1 byte) = 1, then msgpack.

    [start, [member ...], [[records, state, deliveries, member's index, until_ms] ...]]

Portions lie side by side, so only their lengths are written. A golden file keeps each version for ever.
"""

import msgpack

from lakestream.broker.shares.state import NOBODY, Portion, RecordState, ShareState
from lakestream.metadata.share_partition import SavedShare
from lakestream.model.errors import Corrupt

VERSION = 1


def saved_share(state: ShareState) -> SavedShare:
    return SavedShare(state.start, state.done, encode_share(state))


def encode_share(state: ShareState) -> bytes:
    members = list(dict.fromkeys(one.member for one in state.portions))
    index = {member: at for at, member in enumerate(members)}
    portions = [
        [one.last - one.first + 1, int(one.state), one.deliveries, index[one.member], one.until_ms]
        for one in state.portions
    ]
    return bytes([VERSION]) + bytes(msgpack.packb([state.start, members, portions]))


def decode_share(data: bytes) -> ShareState:
    try:
        if data[0] != VERSION:
            raise ValueError(f"version {data[0]}")
        start, members, written = msgpack.unpackb(memoryview(data)[1:])
        portions = []
        end = start
        for records, state, deliveries, member, until_ms in written:
            portions.append(
                Portion(end, end + records - 1, RecordState(state), deliveries, members[member] or NOBODY, until_ms)
            )
            end += records
        return ShareState(start, end, tuple(portions))
    except (ValueError, TypeError, IndexError, msgpack.UnpackException) as error:
        raise Corrupt(
            f"the saved state of a share-partition is not readable ({error}): run the version of Lakestream that wrote "
            "it, or set the group's offsets anew"
        ) from error
