"""Every client library by name, and how to open it for a broker. Raises Unavailable where a program is missing."""

from collections.abc import Callable

from .aio import Aiokafka
from .client import Client
from .confluent import Confluent
from .java import open_java
from .kafka_py import KafkaPython
from .kafkajs import open_kafkajs

OPENERS: dict[str, Callable[[str], Client]] = {
    "confluent-kafka": Confluent,
    "aiokafka": Aiokafka,
    "kafka-python": KafkaPython,
    "kafkajs": open_kafkajs,
    "java": open_java,
}
