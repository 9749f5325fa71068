"""Open a PostgreSQL store: its pool, its alarm, and its tables brought up to date."""

from lakestream.metadata.cluster_id import new_cluster_id
from lakestream.metadata.postgres.address import address_of
from lakestream.metadata.postgres.alarm import Alarm
from lakestream.metadata.postgres.failures import plain_errors
from lakestream.metadata.postgres.migrate import migrate
from lakestream.metadata.postgres.pool import Pool
from lakestream.metadata.postgres.store import PostgresStore
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids


async def open_postgres(url: str, *, clock: Clock, ids: Ids) -> PostgresStore:
    """`clock` only times reconnections: the store's own clock is the server's."""
    address = address_of(url)
    pool = Pool(address.conninfo, shown_url=address.shown)
    with plain_errors(address.shown):
        async with pool.connection() as connection:
            cluster_id = await migrate(connection, address, new_cluster_id(ids))
    alarm = Alarm(pool, channel=f"lakestream_{address.schema}", own_name=ids.ulid(), clock=clock)
    return PostgresStore(url, shown_url=address.shown, cluster_id=cluster_id, pool=pool, alarm=alarm)
