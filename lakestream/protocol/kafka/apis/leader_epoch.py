"""Check leader epochs. There is one, 0, for ever, since any broker serves any partition.

Clients send the epoch under which they know a partition (-1: none). No client can be behind. A later epoch comes from
another cluster's metadata, and the error makes the client read ours.
"""

from lakestream.protocol.kafka.errors import KafkaError, Refused

LEADER_EPOCH = 0


def check_leader_epoch(current: int) -> None:
    if current > LEADER_EPOCH:
        raise Refused(
            KafkaError.UNKNOWN_LEADER_EPOCH,
            f"leader epoch {current} was never given out: here it is always {LEADER_EPOCH}",
        )
