"""Values of a topic under its contract: what becomes columns, what stays bytes, what is set aside.

TopicContract -> ValueDecoder.decode(values) -> columns, forms, errors       at compaction
rules of a file -> ContractRestorer.restore(columns) -> values               at replay
"""
