"""SASL: a connection says who it is before it may ask for anything else."""
