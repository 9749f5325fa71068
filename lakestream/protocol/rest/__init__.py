"""The HTTP face: health, metrics and administration."""
