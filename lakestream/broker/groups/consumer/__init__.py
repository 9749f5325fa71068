"""The consumer group protocol of KIP-848: the coordinator assigns, and each member is led there step by step.

    heartbeat -> group epoch rises when members or topics change -> target assignment for that epoch (assignors)
              -> the member is reconciled towards it: first it lets partitions go, then it is given what others let go

At every moment a partition is held by at most one member.
"""
