"""What every serving process has: a beginning, an end, and logs."""
