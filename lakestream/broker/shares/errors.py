"""Errors between a share-partition and its readers. lakestream.model.errors describes the kinds and their advice."""

from lakestream.model.errors import Conflict, Exhausted, Fenced, NotFound


class InvalidRecordState(Conflict):
    """The member does not hold the lock of a record that it acknowledges: it ran out, or was never given."""


class ShareSessionNotFound(NotFound):
    """The broker has no such session. Begin a new one with epoch 0."""


class InvalidShareSessionEpoch(Fenced):
    """The epoch is not the next one of the session. Begin a new one with epoch 0."""


class ShareSessionLimitReached(Exhausted):
    """This broker has as many share sessions as it allows. Try again later."""


class ShareOvertaken(Fenced):
    """Another broker serves the share-partition now. Ask for the leader again."""
