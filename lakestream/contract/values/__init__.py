"""Values of a topic under its contract: which become columns, which stay bytes, which are set aside.

TopicContract -> ValueDecoder.decode(values) -> columns, forms, errors       at compaction rules of a file ->
ContractRestorer.restore(columns) -> values               at replay
"""
