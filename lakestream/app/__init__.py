"""The serving processes: every part made and wired here, nowhere else. One file per process."""
