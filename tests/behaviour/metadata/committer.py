"""A broker that does nothing but commit, until it is killed: one batch to every partition, then a line with the answer.

python -m tests.behaviour.metadata.committer URL BROKER PARTITION...
"""

import asyncio
import sys

from lakestream.model.broker import LEASE_MS_MAX
from tests.behaviour.metadata.stage import Stage, batch, laid_out, results_of


async def commit_for_ever(url: str, broker: int, partitions: list[int]) -> None:
    stage = Stage(url)
    store = await stage.open()
    lease = await stage.broker(store, broker, ttl_ms=LEASE_MS_MAX)

    async def committer() -> None:
        while True:
            commit = stage.commit(lease, *laid_out(*map(batch, partitions)))
            results = results_of(await store.commit_segment(commit))
            print(commit.segment, *(result.base_offset for result in results), flush=True)
            if not partitions:
                await asyncio.sleep(1)

    await asyncio.gather(*(committer() for _ in range(3)))


if __name__ == "__main__":
    asyncio.run(commit_for_ever(sys.argv[1], int(sys.argv[2]), [int(word) for word in sys.argv[3:]]))
