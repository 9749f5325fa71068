"""Deliberate differences from Apache Kafka, and their reasons. docs/reference/kafka.md is generated from this list."""

from typing import NamedTuple


class Difference(NamedTuple):
    area: str
    here: str
    """One difference that a client or an operator meets."""
    reason: str


DIFFERENCES = (
    Difference(
        "leaders",
        "Any broker serves any partition. The leader that Metadata names is a hint, chosen by rendezvous hashing among "
        "the live brokers; leader epochs are always 0, replicas and in-sync replicas are the named leader alone.",
        "Records lie in the object store, so no broker owns them. Naming one broker for each partition keeps its "
        "writers and readers in one cache.",
    ),
    Difference(
        "zones",
        "A client that says `zone=`, `az=` or `rack=` in its `client.id` is told leaders of its own zone while one "
        "lives there. `client.rack` and preferred replicas are not used.",
        "Metadata requests carry no rack, and by the time a Fetch does, the leader has been chosen.",
    ),
    Difference(
        "replication",
        "Any replication factor is taken, and what is shown is 1. Those below 1, but for -1, are refused with "
        "INVALID_REPLICATION_FACTOR. `min.insync.replicas` has no effect.",
        "The object store replicates, however many brokers there are. Kafka Connect and many applications ask for 3.",
    ),
    Difference(
        "acks",
        "`acks=1` is the same as `acks=all`: the answer comes when the batch is durable in the object store and has "
        "its offset in the metadata store.",
        "There is no earlier moment at which a record would survive the loss of its broker.",
    ),
    Difference(
        "produce timeout",
        "The request's timeout covers the whole way to durable storage, and is taken as at least one second.",
        "Kafka counts only the wait for followers. A flush to an object store may take longer than the few "
        "milliseconds that some clients allow.",
    ),
    Difference(
        "out-of-order batches",
        "A batch of an idempotent producer that arrives before its predecessor waits for it for up to two seconds "
        "before it is refused with OUT_OF_ORDER_SEQUENCE_NUMBER. Where nothing is known of the producer (the topic was "
        "created anew, or the producer silent for a day) the first sequence must be 0; others are UNKNOWN_PRODUCER_ID "
        "after the same wait, upon which producers begin anew by themselves and send the batch again. Kafka takes any.",
        "After a change of metadata a producer's batches travel through two brokers at once, and the later one may "
        "arrive first: stored at once, it would shut out its predecessor.",
    ),
    Difference(
        "fetch sessions",
        "No sessions (KIP-227): the session id is always 0, and clients send full requests.",
        "A session is state that would tie a consumer to one broker.",
    ),
    Difference(
        "errors of storage",
        "When the object store or the metadata store is away, producers are told REQUEST_TIMED_OUT, consumers "
        "KAFKA_STORAGE_ERROR; a full disk is KAFKA_STORAGE_ERROR for both.",
        "Clients retry each of these by themselves. A consumer that met a timeout in a fetch would end instead.",
    ),
    Difference(
        "retention",
        "`retention.ms` is -1 by default: records are kept until someone says otherwise. Retention drops whole flushed "
        "runs of batches, so a little more is kept than asked for, never less.",
        "The log's long-term home is cheap, shared storage rather than a broker's disk.",
    ),
    Difference(
        "compression",
        "By default (`compression.type=producer`) batches are kept byte for byte as they were sent, and come as lz4 "
        "once they lie in the table, if they were compressed. The levels (`compression.gzip.level` and so on) cannot "
        "be set. A batch may decompress to 256 MiB at most.",
        "A table's rows do not keep a codec's own bytes, and lz4 is the cheapest to make and to read; the bound keeps "
        "a hostile batch from taking a broker's memory.",
    ),
    Difference(
        "timestamps",
        "A time before 1970 is refused with INVALID_TIMESTAMP, but for -1, which says that a record has none. Kafka "
        "takes any that `message.timestamp.before.max.ms` allows.",
        "Retention and the lookup of offsets by time take what is below 0 for no time at all.",
    ),
    Difference(
        "headers of records",
        "A key that is not UTF-8 is refused with INVALID_RECORD. Kafka does not look, and its clients show U+FFFD in "
        "place of what is wrong.",
        "It is text in the table, and must come out of there as it went in.",
    ),
    Difference(
        "topic configs",
        "Those of the table above. Any other is refused with INVALID_CONFIG, also where Kafka has one of that name. "
        "Those that concern disks, replicas and cleaners which there are none of are kept and shown, with no effect: "
        "their documentation says so wherever they are described.",
        "A config that asks for something and gets nothing is a promise not kept. But tools set sizes of segment files "
        "as a matter of course, and lose nothing where there are none (ADR 6).",
    ),
    Difference(
        "broker configs",
        "Shown read-only, and few: those that tools look for, such as `advertised.listeners` and `log.retention.ms`. "
        "They are set where the broker is started (`lakestream settings`).",
        "Brokers keep nothing of their own that a setting could be written to.",
    ),
    Difference(
        "group configs",
        "Those that `kafka-configs --entity-type groups --describe --all` shows. The bounds of their values are the "
        "same for every cluster, and wider than Apache Kafka's. Configs of Streams groups, and those that tune its "
        "assignors, are refused with INVALID_CONFIG.",
        "A value that one group wants needs no bound of the cluster's, and there are neither Streams groups nor "
        "assignors that would have to be tuned.",
    ),
    Difference(
        "share groups",
        "State lives in the metadata store; there is no `__share_group_state` topic. Any broker serves any "
        "share-partition, and locks outlive the broker that gave them: a member acknowledges what it holds through "
        "another one. Locks end by the store's clock. A member whose connection breaks keeps its locks until they run "
        "out. Markers and aborted records are never delivered, rather than delivered and skipped. Read-committed "
        "groups wait for open transactions. Share groups do not expire.",
        "The store is where everything is kept that must survive a broker, and one row with an epoch fences an owner "
        "that was overtaken. A connection that breaks says nothing of the member: its client opens another one.",
    ),
    Difference(
        "controller",
        "Metadata names a live broker, the same one everywhere; each broker administers anything.",
        "Clients send some requests to a controller only, so there must be one to name.",
    ),
    Difference(
        "creating topics",
        "A topic is there, for every broker, when the request is answered. A manual assignment gives the number of "
        "partitions; the brokers in it mean nothing.",
        "The metadata store is one transaction away; there is nothing to wait for.",
    ),
    Difference(
        "names of topics",
        "Names that differ in `.` and `_` alone are two topics. Kafka refuses the second.",
        "Kafka's names of metrics would collide. Here tables could, and they get different names.",
    ),
    Difference(
        "log directories",
        "One, called `lakestream`, on every broker; a partition is counted by its named leader.",
        "There are no disks, and tools that sum over brokers should come to the right number.",
    ),
    Difference(
        "coordinators",
        "A group's coordinator is chosen by rendezvous hashing among the live brokers. State and offsets are in the "
        "metadata store; there is no `__consumer_offsets` topic. When a broker dies its groups go on elsewhere once "
        "its lease has run out, 5 seconds by default.",
        "The store is where everything is kept that must survive a broker, and one transaction fences an owner that "
        "was overtaken.",
    ),
    Difference(
        "names of groups",
        "An empty one is refused with INVALID_GROUP_ID everywhere. Kafka takes it for offsets that are committed and "
        "fetched by consumers in no group.",
        "Kafka keeps it for clients of long ago; whoever sends it today has forgotten to set `group.id`.",
    ),
    Difference(
        "offsets of groups",
        "Any broker answers OffsetFetch, also one that does not coordinate the group; NOT_COORDINATOR is not said. "
        "While the metadata store cannot be read it is COORDINATOR_LOAD_IN_PROGRESS.",
        "What was committed is in the store, for every broker to read. librdkafka does not ask again after "
        "NOT_COORDINATOR: such a member would hold its partitions and read nothing until the next rebalance.",
    ),
    Difference(
        "brokers",
        "A broker whose lease has run out is named as nobody's leader or coordinator at once, and stays in Metadata's "
        "list of brokers for another lease, 5 seconds by default.",
        "librdkafka drops connections and partitions of a broker that is not in the list. On a busy machine a lease is "
        "now and then renewed a moment late.",
    ),
    Difference(
        "members of groups",
        "Members of `group.protocol=consumer` commit under their current epoch only: an older one is "
        "STALE_MEMBER_EPOCH, and they commit again. One that asks a group which is classic now is UNKNOWN_MEMBER_ID. "
        "A static one that repeats its join is let in. A group has at most `group.members_max` members, 16 MiB of "
        "subscriptions and 100 different expressions.",
        "The first is how Kafka did it before 4.3; after the second, clients join again instead of ending; the third "
        "is the same process, whose first answer was lost; the bounds keep a crowd from taking a broker's memory.",
    ),
    Difference(
        "compacted topics",
        "`cleanup.policy=compact` is taken and demands keys, but no record is removed by it yet.",
        "Kafka Connect and Kafka Streams need such topics, and keeping more than asked for harms nobody.",
    ),
    Difference(
        "transactions",
        "State lives in the metadata store; there is no `__transaction_state` topic. The end of a transaction is one "
        "step in all of its partitions, topics and groups, so CONCURRENT_TRANSACTIONS is never answered and no state "
        "is called Prepare. The coordinator is a hint: any broker serves any transactional id. A partition that was "
        "added and never written gets no marker. WriteTxnMarkers aborts a whole transaction, and commits nothing. Once "
        "records lie in the table, aborted ones and markers are gone for readers of uncommitted records, too.",
        "One transaction of the store does what takes Kafka a log of its own and two phases. Aborted records never "
        "become rows, and a row is the only copy of its record.",
    ),
    Difference(
        "quotas",
        "Quotas of users and client ids bound bytes and request time at each broker. A client is told the wait after "
        "the request that used up its quota, which is answered in full. Quotas by address and "
        "`controller_mutation_rate` are refused. Listeners that other machines can reach need logins over TLS, or "
        "`allow_insecure`.",
        "A quota that nothing holds would be worse than none. `kafka.connections_per_address_max` bounds addresses.",
    ),
)
