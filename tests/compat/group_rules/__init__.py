"""The rules of groups, found out by asking: every request, right and wrong, to a group in every state.

    situations (how a group got there) x asks (who says what) -> one line each: what a broker answered

Apache Kafka's lines are kept in kafka.txt: they are what Lakestream must say. `python -m tests.compat.group_rules
host:port` prints the lines of a running broker.
"""
