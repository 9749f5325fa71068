"""The parts that every serving process shares: start, end, and logs."""
