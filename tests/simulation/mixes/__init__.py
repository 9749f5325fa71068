"""Mixes: what gives a run its character."""
