"""lakestream status: the cluster at a glance, from the gateway's /admin/status."""

import http.client
import json
from typing import Any

from lakestream.cli.failures import CommandFailed
from lakestream.cli.options import AsJson, Config, Http, SetValues, http_address
from lakestream.cli.output import in_units, print_json, print_table
from lakestream.settings.address import Address

_ANSWER_SECONDS_MAX = 10.0


def status(http: Http = None, as_json: AsJson = False, config: Config = None, values: SetValues = None) -> None:
    """Show brokers and topics."""
    found = _ask(http_address(config, values, http))
    if as_json:
        print_json(found)
        return
    print_table(
        ["broker", "kafka", "rack", "state"],
        [(b["id"], f"{b['host']}:{b['port']}", b["rack"], b["state"]) for b in found["brokers"]],
        title=f"cluster {found['cluster_id']}",
    )
    print()
    print_table(
        ["topic", ">partitions", ">records", ">bytes"],
        [(t["name"], len(t["partitions"]), t["records"], in_units(t["bytes"])) for t in found["topics"]],
    )


def _ask(address: Address) -> Any:
    # Straight to the address, by no proxy that the environment may name.
    connection = http.client.HTTPConnection(address.host, address.port, timeout=_ANSWER_SECONDS_MAX)
    try:
        connection.request("GET", "/admin/status")
        answer = connection.getresponse()
        body = json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise CommandFailed(
            f"no Lakestream gateway answers at {address} ({error}); "
            "start one with `lakestream up`, or name it with --http HOST:PORT"
        ) from None
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise CommandFailed(f"the gateway at {address} cannot say: {body.get('error', answer.reason)}")
    return body
