"""The stores of the metadata suite, for the verbs about ACLs and credentials."""

from tests.behaviour.metadata.conftest import postgres, stage

__all__ = ["postgres", "stage"]
