"""Errors between a group and its members. lakestream.model.errors describes the kinds and the advice they carry."""

from lakestream.model.errors import Conflict, Exhausted, Fenced, Invalid, NotFound, Unavailable


class InvalidGroupId(Invalid):
    """A group needs a name."""


class InvalidSessionTimeout(Invalid):
    """The session timeout lies outside what this broker allows."""


class InconsistentProtocol(Invalid):
    """The member shares no assignment protocol with the group's other members."""


class MemberIdRequired(Invalid):
    """Join again with the member id that comes with this answer."""


class UnknownMember(NotFound):
    """The group has no such member. Join again."""


class GroupNotFound(NotFound):
    """There is no group of this name, or it is of the other kind."""


class RebalanceInProgress(Conflict):
    """The group is finding a new assignment. Join again."""


class FencedInstance(Fenced):
    """Another member has taken this instance id over. Stop this one."""


class GroupFull(Exhausted):
    """The group has as many members as this broker allows."""


class GroupTooLarge(Exhausted):
    """The members' subscriptions or assignments are more than this broker keeps for one group."""


class CoordinatorNotAvailable(Unavailable):
    """The group's state could not be read or saved just now. Ask for the coordinator again, then retry."""


class CoordinatorLoading(Unavailable):
    """The group's offsets could not be read just now. Ask the same broker again."""


class FencedMemberEpoch(Fenced):
    """The member's epoch is not the group's. Let go of all partitions and join again."""


class StaleMemberEpoch(Fenced):
    """The member's epoch is not the current one. Heartbeat, then retry."""


class UnreleasedInstance(Conflict):
    """The instance id is still held by a member that has not left."""


class UnsupportedAssignor(Invalid):
    """No such assignor."""


class InvalidRegularExpression(Invalid):
    """The subscription is not a regular expression of RE2."""


class GroupNotEmpty(Conflict):
    """The group has members. Stop them first."""


class SubscribedToTopic(Conflict):
    """Members of the group read this topic. Stop them first."""


class OffsetMetadataTooLarge(Invalid):
    """The text that comes with a committed offset is too long."""


class UnsupportedCommit(Invalid):
    """Members of the newer group protocol commit with OffsetCommit version 9 or above."""
