"""The Kafka APIs that are served, one file each, sorted by key; `all.APIS` lists them.

Every file reads the same way: what the API is and how we behave, what each version changed that matters, one function
that translates the request, calls a verb of the broker and translates the answer back, and the line that registers it.
Files without a number hold what several APIs say in the same way. `wire/generated` has the types of all messages; a new
API gets its stub by `python -m lakestream.protocol.kafka.stubs`.
"""
