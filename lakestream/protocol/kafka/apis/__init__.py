"""The Kafka APIs that are served, one file each, sorted by key; `all.APIS` lists them.

Every file reads the same way: what the API is and how we behave, relevant changes of each version, one function that
translates the request, calls a verb of the broker and translates the answer back, and the line that registers it. Files
without a number hold code that several APIs share. `wire/generated` has the types of all messages; `python -m
lakestream.protocol.kafka.stubs` makes the stub of a new API.
"""
