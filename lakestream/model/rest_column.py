"""The system column that takes what has no column: its name, and the field id that is never used for anything else.

It is known to those who fill it (contract) and to those who keep the ids of system columns (storage).
"""

REST_NAME = "__rest"
REST_ID = 2_000_000_110
