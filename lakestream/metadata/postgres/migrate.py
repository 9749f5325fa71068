"""Migrate the schema to this version's tables, in one transaction. Processes may open the store at the same time."""

from psycopg import sql

from lakestream.metadata.migrating import Dialect, migrations_of, pending
from lakestream.metadata.postgres.address import DatabaseAddress
from lakestream.metadata.postgres.asking import one_row
from lakestream.metadata.postgres.pool import Connection

_MIGRATION_LOCK = 0x6C616B65
"""Any number that no other program is likely to lock: the letters 'lake'."""

_FIRST_PARTITION_ID = 1
_FIRST_PRODUCER_ID = 1


async def migrate(connection: Connection, address: DatabaseAddress, cluster_id: str) -> str:
    """Returns the store's cluster id, which is `cluster_id` if it had none yet. Raises MetadataTooNew."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))  # other processes wait here
        await _make_schema(connection, address.schema)
        await _apply_pending(connection, address)
        await connection.execute(
            "INSERT INTO cluster VALUES (1, %s, 0, %s, %s) ON CONFLICT DO NOTHING",
            (cluster_id, _FIRST_PARTITION_ID, _FIRST_PRODUCER_ID),
        )
        (kept,) = await one_row(connection, "SELECT cluster_id FROM cluster")
    return str(kept)


async def _make_schema(connection: Connection, schema: str) -> None:
    """Create the schema if it is missing. CREATE IF NOT EXISTS would need the right to create even if it exists."""
    found = await connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,))
    if await found.fetchone() is None:
        await connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))


async def _apply_pending(connection: Connection, address: DatabaseAddress) -> None:
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS migration (number integer NOT NULL PRIMARY KEY, applied_ms bigint NOT NULL)"
    )
    (applied_until,) = await one_row(connection, "SELECT coalesce(max(number), 0) FROM migration")
    for migration in pending(migrations_of(Dialect.POSTGRES), applied_until, address.shown):
        for script in migration.scripts:
            await connection.execute(script.encode())  # bytes: sent unchanged, without parameters
        await connection.execute("INSERT INTO migration VALUES (%s, now_ms())", (migration.number,))
