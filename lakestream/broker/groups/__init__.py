"""Consumer groups: who reads what, how far they have come, and what happens when someone comes, goes or dies.

    coordinator (asks, timers, saving) -> machine (decides, without I/O) -> classic | consumer -> state (what is saved)

The machine is plain Python over values: it is told the time and returns what to answer and whether to save. Answers
leave only after the state that they came from is in the store, so another broker can take over at any moment.
"""
