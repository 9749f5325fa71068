"""The stores of the metadata suite, for the verbs about tables."""

from tests.behaviour.metadata.conftest import postgres, stage

__all__ = ["postgres", "stage"]
