"""Share groups (KIP-932): many readers of one partition, each record to one of them at a time, until it is done.

    acknowledge and fetch -> a turn of the share-partition's state (pure) -> saved, with others, in one transaction
                          -> answered

The metadata store keeps for each share-partition which records are done, which are locked by whom until when, and how
often each was delivered. So any broker goes on where another one stopped, and honours the locks that it gave.
"""
