"""Consumer groups: membership, assignments and committed offsets, for both of Kafka's group protocols.

    coordinator (asks, timers, saving) -> machine (decides, without I/O) -> classic | consumer -> state (what is saved)

The machine is plain Python over values. It receives the time, and returns the answers and whether to save. Answers
leave only after the state that they came from is in the store, so another broker can take over at any moment.
"""
