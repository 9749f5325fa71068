"""The outside world: clocks, ids, chance, tasks and threads, object stores. Nothing else touches them."""
