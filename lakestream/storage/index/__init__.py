"""The index: which spans hold which offsets, as one consistent view at a time."""
