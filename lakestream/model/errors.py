"""All errors, in a few kinds that each tell the caller what to do next.

A kind (direct subclass of LakestreamError) is advice to the caller; a leaf carries the facts. Each protocol has one
table from leaves to its own codes (Kafka: protocol/kafka/errors.py).
"""


class LakestreamError(Exception):
    """The root. Its text is shown to people: it says what happened and what to do."""


# --- kinds -----------------------------------------------------------------------------------


class Invalid(LakestreamError):
    """The request is wrong. Correct it; the same request will fail again."""


class NotFound(LakestreamError):
    """The named thing does not exist. Check the name, or create it."""


class Conflict(LakestreamError):
    """Someone else got there first. Read again, then decide."""


class Unavailable(LakestreamError):
    """It cannot be done now. Try again a little later; nothing was changed, or repeating is safe."""


class Fenced(LakestreamError):
    """Another incarnation or epoch has taken over. Stop, and start again under a new one."""


class Corrupt(LakestreamError):
    """Bytes are damaged. Retrying a read may help; an operator should look."""


class Exhausted(LakestreamError):
    """A limit was reached. Use less, or raise the limit."""


# --- leaves: access ----------------------------------------------------------------------------


class Denied(Invalid):
    """The caller lacks a right. Ask an administrator for it, or log in as somebody who has it."""


# --- leaves: topics ----------------------------------------------------------------------------


class UnknownTopic(NotFound):
    """No topic has this name."""


class UnknownTopicId(NotFound):
    """No topic has this id; it may have been deleted."""


class UnknownPartition(NotFound):
    """The topic has no such partition."""


class UnknownBroker(NotFound):
    """No live broker has this id."""


class TopicExists(Conflict):
    """A topic of this name exists already."""


class InvalidTopicName(Invalid):
    """Names have 1 to 249 letters, digits, dots, underscores and dashes, and are not '.' or '..'."""


class InvalidPartitionCount(Invalid):
    """Partitions are counted from 1, and their number can only grow."""


class InvalidReplication(Invalid):
    """The object store replicates; a topic's replication factor is 1 or left to the broker."""


class InvalidTopicConfig(Invalid):
    """A topic config is unknown, or its value is not one of those allowed."""


class InvalidGroupConfig(Invalid):
    """A config of a group is unknown, or its value is not one of those allowed."""


class InvalidRequest(Invalid):
    """A request that decodes but makes no sense."""


class UnsupportedOperation(Invalid):
    """The request is well-formed but asks for something Lakestream does not do."""


# --- leaves: the log ---------------------------------------------------------------------------


class OffsetOutOfRange(Invalid):
    """The offset lies below the log's start or above its end."""


class OffsetNotAvailable(Unavailable):
    """This broker's view is older than the reader's. It will catch up in a moment."""


class StaleProducerEpoch(Fenced):
    """A newer incarnation of this producer has written; this one must stop."""


class ProducerFenced(Fenced):
    """Another producer took over the transactional id, or its transaction timed out. Close this one."""


class UnknownTransactionalId(Invalid):
    """The transactional id is not assigned to this producer id: it has expired. Begin again."""


class WrongTransactionState(Invalid):
    """The transaction's state does not allow this. Abort it, or begin a new one."""


class NotInTransaction(WrongTransactionState):
    """The transaction has ended, or the partition was not added to it. Abort it, then begin a new one."""


class InvalidTransactionTimeout(Invalid):
    """The timeout of a transaction is above what brokers allow, or not above 0."""


class OutOfOrderSequence(Invalid):
    """An earlier batch of this producer has not arrived."""


class UnknownProducer(Invalid):
    """This producer is unknown on this partition, so only sequence 0 can be accepted."""


class DuplicateSequence(Conflict):
    """The batch was stored before, too long ago to know its offset."""


# --- leaves: storage ---------------------------------------------------------------------------


class ObjectMissing(NotFound):
    """The object store has no object of this key."""


class ObjectExists(Conflict):
    """An object of this key exists already, and objects are never overwritten."""


class StoreUnavailable(Unavailable):
    """The object store or the metadata store did not answer, or refused for now."""


class StorageFull(Exhausted):
    """The disk or bucket has no room. Free some; produce is refused until then, reading goes on."""


class MalformedSegment(Corrupt):
    """A WAL object that does not have the segment format."""


class SegmentLost(Corrupt):
    """The index names an object that does not exist. Restore it, or delete the records it held."""


class SegmentAbandoned(Conflict):
    """The segment was given up before it was committed; its batches were never visible."""


class BrokerFenced(Fenced):
    """The broker's lease ran out or another process took its id."""


class MetadataTooNew(Invalid):
    """The metadata store was written by a newer Lakestream. Run that version, or restore a backup."""


class InvalidSetting(Invalid):
    """A setting has a value that cannot be used."""


class Overloaded(Exhausted):
    """Too many requests are under way at once."""


# --- leaves: groups ----------------------------------------------------------------------------


class NotCoordinator(Fenced):
    """Another broker coordinates this group now. Ask which one, and go there."""


class IllegalGeneration(Fenced):
    """The group has gone on to another generation. Join again."""


def what_went_wrong(error: BaseException) -> str:
    """The error in words. Our own errors contain advice; for others the type helps."""
    if isinstance(error, LakestreamError):
        return str(error)
    return f"{type(error).__name__}: {error}. Should it go on, report it together with the log"
