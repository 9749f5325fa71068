"""The system column for fields without a column of their own: its name, and its reserved field id.

Both the code that fills it (contract) and the code that keeps the ids of system columns (storage) need them.
"""

REST_NAME = "__rest"
REST_ID = 2_000_000_110
