"""The consumer group protocol of KIP-848: the coordinator assigns, and moves each member there step by step.

    heartbeat -> group epoch rises when members or topics change -> target assignment for that epoch (assignors)
              -> the member is reconciled towards it: first it lets partitions go, then it is given what others let go

At every moment at most one member holds a partition.
"""
