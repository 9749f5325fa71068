"""The classic group protocol: members join, the leader assigns, everyone syncs; each round is a generation.

    joining -> rebalance (wait for all, or time out) -> syncing (the leader's assignment) -> staying

Behaviour and errors are those of Kafka's own coordinator, including which of two errors comes first.
"""
