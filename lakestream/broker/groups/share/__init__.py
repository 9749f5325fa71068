"""Members of share groups (KIP-932): the coordinator says who reads which partitions; several may read the same one.

    heartbeat -> group epoch rises when members or topics change -> everyone's partitions follow from who is there

Nobody waits for anybody: a partition that two members read for a moment is no harm, since records are locked one by
one (broker/shares). So there is no target to move to, and the assignment need not be saved.
"""
