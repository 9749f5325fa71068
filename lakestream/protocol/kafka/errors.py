"""The one table that maps exceptions to Kafka's error codes.

    kafka_error(exception) -> (code, message)

Clients act on the code: they retry some at once and some after a metadata refresh, and some are fatal to a producer. An
exception that is not in the table is our own fault: the client gets UNKNOWN_SERVER_ERROR, and the log has the details.
"""

from enum import IntEnum

from lakestream.broker.groups import errors as groups
from lakestream.broker.shares import errors as shares
from lakestream.model import acl, credential, errors, quota
from lakestream.storage.records import errors as batches


class KafkaError(IntEnum):
    """The codes that we answer with, by Kafka's names."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    OFFSET_METADATA_TOO_LARGE = 12
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    FEATURE_UPDATE_FAILED = 96
    UNKNOWN_TOPIC_ID = 100
    INCONSISTENT_TOPIC_ID = 103
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    INVALID_REGULAR_EXPRESSION = 128
    SHARE_SESSION_LIMIT_REACHED = 133


CODES: dict[type[errors.LakestreamError], KafkaError] = {
    # Topics.
    errors.UnknownTopic: KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    errors.UnknownTopicId: KafkaError.UNKNOWN_TOPIC_ID,
    errors.UnknownPartition: KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    errors.UnknownBroker: KafkaError.BROKER_NOT_AVAILABLE,
    errors.TopicExists: KafkaError.TOPIC_ALREADY_EXISTS,
    errors.InvalidTopicName: KafkaError.INVALID_TOPIC_EXCEPTION,
    errors.InvalidPartitionCount: KafkaError.INVALID_PARTITIONS,
    errors.InvalidReplication: KafkaError.INVALID_REPLICATION_FACTOR,
    errors.InvalidTopicConfig: KafkaError.INVALID_CONFIG,
    errors.InvalidGroupConfig: KafkaError.INVALID_CONFIG,
    errors.InvalidRequest: KafkaError.INVALID_REQUEST,
    errors.UnsupportedOperation: KafkaError.INVALID_REQUEST,
    # The log.
    errors.OffsetOutOfRange: KafkaError.OFFSET_OUT_OF_RANGE,
    errors.OffsetNotAvailable: KafkaError.OFFSET_NOT_AVAILABLE,
    errors.StaleProducerEpoch: KafkaError.INVALID_PRODUCER_EPOCH,
    errors.OutOfOrderSequence: KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
    errors.UnknownProducer: KafkaError.UNKNOWN_PRODUCER_ID,
    errors.DuplicateSequence: KafkaError.DUPLICATE_SEQUENCE_NUMBER,
    # Transactions.
    errors.ProducerFenced: KafkaError.PRODUCER_FENCED,
    errors.UnknownTransactionalId: KafkaError.INVALID_PRODUCER_ID_MAPPING,
    errors.WrongTransactionState: KafkaError.INVALID_TXN_STATE,
    errors.NotInTransaction: KafkaError.INVALID_TXN_STATE,
    errors.InvalidTransactionTimeout: KafkaError.INVALID_TRANSACTION_TIMEOUT,
    # Batches.
    batches.CorruptBatch: KafkaError.CORRUPT_MESSAGE,
    batches.InvalidRecord: KafkaError.INVALID_RECORD,
    batches.InvalidTimestamp: KafkaError.INVALID_TIMESTAMP,
    batches.UnsupportedCompression: KafkaError.UNSUPPORTED_COMPRESSION_TYPE,
    batches.BatchTooLarge: KafkaError.MESSAGE_TOO_LARGE,
    # Storage. Failures that may pass by themselves map to codes that clients retry: a timeout, or a lost leader, which
    # sends them to another broker.
    errors.ObjectMissing: KafkaError.KAFKA_STORAGE_ERROR,
    errors.ObjectExists: KafkaError.KAFKA_STORAGE_ERROR,
    errors.StoreUnavailable: KafkaError.REQUEST_TIMED_OUT,
    errors.StorageFull: KafkaError.KAFKA_STORAGE_ERROR,
    errors.MalformedSegment: KafkaError.KAFKA_STORAGE_ERROR,
    errors.SegmentLost: KafkaError.KAFKA_STORAGE_ERROR,
    errors.SegmentAbandoned: KafkaError.REQUEST_TIMED_OUT,
    errors.BrokerFenced: KafkaError.NOT_LEADER_OR_FOLLOWER,
    errors.MetadataTooNew: KafkaError.UNKNOWN_SERVER_ERROR,
    errors.InvalidSetting: KafkaError.INVALID_CONFIG,
    errors.Overloaded: KafkaError.REQUEST_TIMED_OUT,
    # Groups.
    errors.NotCoordinator: KafkaError.NOT_COORDINATOR,
    errors.IllegalGeneration: KafkaError.ILLEGAL_GENERATION,
    groups.CoordinatorNotAvailable: KafkaError.COORDINATOR_NOT_AVAILABLE,
    groups.CoordinatorLoading: KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    groups.InvalidGroupId: KafkaError.INVALID_GROUP_ID,
    groups.InvalidSessionTimeout: KafkaError.INVALID_SESSION_TIMEOUT,
    groups.InconsistentProtocol: KafkaError.INCONSISTENT_GROUP_PROTOCOL,
    groups.MemberIdRequired: KafkaError.MEMBER_ID_REQUIRED,
    groups.UnknownMember: KafkaError.UNKNOWN_MEMBER_ID,
    groups.GroupNotFound: KafkaError.GROUP_ID_NOT_FOUND,
    groups.RebalanceInProgress: KafkaError.REBALANCE_IN_PROGRESS,
    groups.FencedInstance: KafkaError.FENCED_INSTANCE_ID,
    groups.GroupFull: KafkaError.GROUP_MAX_SIZE_REACHED,
    groups.GroupTooLarge: KafkaError.UNKNOWN_SERVER_ERROR,  # as Kafka does when a group no longer fits a record
    groups.FencedMemberEpoch: KafkaError.FENCED_MEMBER_EPOCH,
    groups.StaleMemberEpoch: KafkaError.STALE_MEMBER_EPOCH,
    groups.UnreleasedInstance: KafkaError.UNRELEASED_INSTANCE_ID,
    groups.UnsupportedAssignor: KafkaError.UNSUPPORTED_ASSIGNOR,
    groups.InvalidRegularExpression: KafkaError.INVALID_REGULAR_EXPRESSION,
    groups.GroupNotEmpty: KafkaError.NON_EMPTY_GROUP,
    groups.SubscribedToTopic: KafkaError.GROUP_SUBSCRIBED_TO_TOPIC,
    groups.OffsetMetadataTooLarge: KafkaError.OFFSET_METADATA_TOO_LARGE,
    groups.UnsupportedCommit: KafkaError.UNSUPPORTED_VERSION,
    # Share groups.
    shares.InvalidRecordState: KafkaError.INVALID_RECORD_STATE,
    shares.ShareSessionNotFound: KafkaError.SHARE_SESSION_NOT_FOUND,
    shares.InvalidShareSessionEpoch: KafkaError.INVALID_SHARE_SESSION_EPOCH,
    shares.ShareSessionLimitReached: KafkaError.SHARE_SESSION_LIMIT_REACHED,
    shares.ShareOvertaken: KafkaError.NOT_LEADER_OR_FOLLOWER,
    # Access.
    errors.Denied: KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    acl.InvalidAcl: KafkaError.INVALID_REQUEST,
    acl.TooManyAcls: KafkaError.POLICY_VIOLATION,
    quota.InvalidQuota: KafkaError.INVALID_REQUEST,
    quota.TooManyQuotas: KafkaError.POLICY_VIOLATION,
    credential.InvalidCredential: KafkaError.UNACCEPTABLE_CREDENTIAL,
    credential.UnknownUser: KafkaError.RESOURCE_NOT_FOUND,
    # Kinds: an exception of another room, or one without a row above, is answered by what its kind advises.
    errors.Invalid: KafkaError.INVALID_REQUEST,
    errors.NotFound: KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    errors.Conflict: KafkaError.REQUEST_TIMED_OUT,
    errors.Unavailable: KafkaError.REQUEST_TIMED_OUT,
    errors.Fenced: KafkaError.NOT_LEADER_OR_FOLLOWER,
    errors.Corrupt: KafkaError.KAFKA_STORAGE_ERROR,
    errors.Exhausted: KafkaError.REQUEST_TIMED_OUT,
}


MESSAGE_LENGTH_MAX = 2_000
"""A longer message is cut. It may repeat long strings of the request, which would leave no room for the rest."""


class Refused(errors.Invalid):
    """Carries a Kafka error code, for errors that exist only in Kafka's protocol."""

    def __init__(self, code: KafkaError, message: str) -> None:
        super().__init__(message)
        self.code = code


def kafka_error(exception: BaseException) -> tuple[int, str]:
    """The error code, and the message for the client."""
    if isinstance(exception, Refused):
        return int(exception.code), str(exception)[:MESSAGE_LENGTH_MAX]
    for kind in type(exception).__mro__:
        if kind in CODES:
            return int(CODES[kind]), (str(exception) or kind.__doc__ or kind.__name__)[:MESSAGE_LENGTH_MAX]
    return int(KafkaError.UNKNOWN_SERVER_ERROR), "The broker failed to handle the request; its log says why"
