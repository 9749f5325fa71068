"""The console in a real browser: the main ways by real clicks, no complaint of the browser, usable by everybody.

CONSOLE_SCREENSHOTS=docs/images pytest tests/integration/tables/test_browser.py   makes the pictures of the documents
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from playwright.sync_api import Browser, Page, expect

from tests.integration.tables.browser import axe_source, missing_browser, running_browser, visitor
from tests.integration.up_process import Up, lakestream

SKUS = ("SKU-100", "SKU-200", "SKU-300")
PATIENCE_MS = 60_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if (reason := missing_browser()) is not None:
        pytest.skip(reason)
    with running_browser() as found:
        yield found


def produce(up: Up, topic: str, count: int, *, first: int = 0) -> None:
    numbers = range(first, first + count)
    orders = [{"order": n, "sku": SKUS[n % 3], "quantity": n % 7 + 1, "price": 9.5} for n in numbers]
    up.run("produce", topic, text="".join(f"{json.dumps(one)}\n" for one in orders))


def compact(up: Up, topic: str) -> None:
    """As a process: the browser's driver occupies this thread's event loop."""
    assert lakestream("compact", topic, "--http", up.http).returncode == 0


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("CONSOLE_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"console-{name}.png")


def test_a_person_makes_a_topic_follows_its_tail_and_asks_its_table(up: Up, browser: Browser) -> None:
    with visitor(browser, f"http://{up.http}") as (page, complaints):
        page.goto("/console/topics")
        page.get_by_role("link", name="New topic").click()
        page.get_by_label("Name").fill("browsed")
        page.get_by_label("How fresh its table is").select_option("1s")
        page.get_by_role("button", name="Create").click()
        expect(page.get_by_text("begins empty")).to_be_visible()
        page.get_by_role("button", name="Create topic").click()
        expect(page.get_by_text("There is nothing at or after this place")).to_be_visible()

        page.get_by_role("button", name="Live tail").click()
        produce(up, "browsed", 40)
        expect(page.locator("#records tr")).to_have_count(40, timeout=PATIENCE_MS)
        expect(page.locator("#records tr").first).to_contain_text("SKU-100")
        compact(up, "browsed")
        page.reload()
        expect(page.locator("#records .tag.table").first).to_be_visible()
        picture(page, "records")

        page.get_by_role("navigation", name="Topic").get_by_role("link", name="Table").click()
        expect(page.get_by_role("img", name="head of main")).to_be_visible()
        picture(page, "table")

        page.get_by_role("navigation", name="Main").get_by_role("link", name="SQL").click()
        page.get_by_label("One query").fill("SELECT sku, sum(quantity) AS sold FROM browsed GROUP BY sku ORDER BY sku")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#rows")).to_contain_text("SKU-300", timeout=PATIENCE_MS)
        picture(page, "sql")
        assert complaints == []


def test_a_person_breaks_a_record_and_retries_it(up: Up, browser: Browser) -> None:
    up.run("topic", "create", "payments", "-c", "lakestream.value.format=json")
    up.run("produce", "payments", text='{"id": 1}\nbroken\n')
    compact(up, "payments")
    with visitor(browser, f"http://{up.http}") as (page, complaints):
        page.goto("/console/topics?search=payments")
        page.get_by_role("link", name="1 quarantined").click()
        page.get_by_role("button", name="Retry all").click()
        expect(page.get_by_text("1 remain")).to_be_visible(timeout=PATIENCE_MS)
        page.get_by_role("link", name="See them, and why").click()
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#rows")).to_contain_text("broken", timeout=PATIENCE_MS)
        assert complaints == []


def test_a_person_resets_a_group_after_a_try(up: Up, browser: Browser) -> None:
    produce(up, "read-slowly", 10)
    reader = Consumer({"bootstrap.servers": up.kafka, "group.id": "billing", "auto.offset.reset": "earliest"})
    reader.subscribe(["read-slowly"])
    message = reader.poll(60)
    assert message is not None
    reader.commit(message, asynchronous=False)
    reader.close()
    with visitor(browser, f"http://{up.http}") as (page, complaints):
        page.goto("/console/groups")
        page.get_by_role("link", name="billing").click()
        expect(page.get_by_text("9 records behind").first).to_be_visible()
        page.get_by_label("To", exact=True).select_option("latest")
        page.get_by_role("button", name="Try it").click()
        expect(page.get_by_text("partition 0: 1 becomes 10")).to_be_visible()
        page.get_by_role("button", name="Reset offsets").click()
        expect(page.get_by_text("0 records behind").first).to_be_visible()
        assert complaints == []


def test_everybody_can_use_every_page_in_light_and_dark_and_on_a_phone(
    up: Up, browser: Browser, tmp_path: Path
) -> None:
    produce(up, "for-everybody", 3)
    compact(up, "for-everybody")
    axe = axe_source(tmp_path)
    if axe is None:
        pytest.skip("axe-core could not be installed from npm")
    topic = "/console/topics/for-everybody"
    tabs = [topic, *(f"{topic}/{tab}" for tab in ("table", "schema", "groups", "quarantine", "configs"))]
    others = ("topics", "new-topic", "groups", "catalog", "sql", "settings")
    pages = ["/", *tabs, *(f"/console/{one}" for one in others)]
    for scheme, size in (("light", (1280, 800)), ("dark", (390, 844))):
        options = {"color_scheme": scheme, "viewport": {"width": size[0], "height": size[1]}, "bypass_csp": True}
        with visitor(browser, f"http://{up.http}", **options) as (page, complaints):
            for path in pages:
                page.goto(path)
                page.evaluate(axe)
                found = page.evaluate("axe.run()")["violations"]
                serious = [
                    (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
                    for one in found
                    if one["impact"] in ("serious", "critical")
                ]
                assert serious == [], f"{path} in {scheme}"
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert wide <= 0, f"{path} is {wide} px wider than a screen of {size[0]}"
            page.goto("/")
            picture(page, f"overview-{scheme}")
            page.keyboard.press("Tab")
            assert page.evaluate("document.activeElement.className") == "skip", "the first stop of the keyboard"
            assert complaints == []
