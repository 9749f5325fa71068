"""The serving processes: builds and wires all parts. One file per process."""
