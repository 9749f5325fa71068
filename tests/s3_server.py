"""An S3 server on this machine with one bucket, for tests that keep their data in no folder."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from moto.server import ThreadedMotoServer


@contextmanager
def s3_bucket(bucket: str) -> Iterator[dict[str, str]]:
    """The options of the object store with which `s3://bucket` is reached."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    httpx.put(f"{endpoint}/{bucket}").raise_for_status()
    try:
        yield {
            "endpoint": endpoint,
            "region": "us-east-1",
            "access_key_id": "test",
            "secret_access_key": "test",
        }
    finally:
        server.stop()
