"""The outside world: clocks, ids, randomness, tasks, threads and object stores. No other package uses them directly."""
