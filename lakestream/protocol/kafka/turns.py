"""The handlers' import of `lakestream.world.turns`."""

from lakestream.world.turns import ELEMENTS_PER_TURN, in_turns, slices

__all__ = ["ELEMENTS_PER_TURN", "in_turns", "slices"]
