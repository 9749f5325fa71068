"""Other engines, and Iceberg's own kit, against our catalog."""

import os

os.environ.setdefault("DO_NOT_TRACK", "1")  # daft reports its use otherwise, from its import on
