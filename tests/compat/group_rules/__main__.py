"""Print what a running broker says: how kafka.txt was made, from Apache Kafka."""

import sys

from .rules import make_ready, rules_of, written
from .situations import SITUATIONS

make_ready(sys.argv[1])
sys.stdout.write(written(rules_of(sys.argv[1], sys.argv[2:] or list(SITUATIONS))))
