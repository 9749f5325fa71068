"""The metadata store of a cluster: PostgreSQL, or a database that speaks its protocol."""
