"""The dashboard and the alerts name metrics and labels that `/metrics` really has."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lakestream.cli.metrics_reference import reference_page

DEPLOY = Path(__file__).parents[3] / "deploy"
METRIC = re.compile(r"\blakestream_\w+")
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \| (.*?) \|", re.MULTILINE)
BY = re.compile(r"\bby \(([\w, ]+)\)")
ADDED_BY_THE_GATEWAY = {"broker", "process", "le"}


def exported() -> dict[str, set[str]]:
    """Labels by metric, as Prometheus sees them."""
    found: dict[str, set[str]] = {}
    for name, kind, labels in ROW.findall(reference_page()):
        names = [f"{name}_{end}" for end in ("bucket", "count", "sum")] if kind == "histogram" else [name]
        found |= {each: set(re.findall(r"`(\w+)`", labels)) | ADDED_BY_THE_GATEWAY for each in names}
    return found


def expressions() -> Iterator[tuple[str, str]]:
    dashboard = json.loads((DEPLOY / "grafana" / "lakestream.json").read_text())
    for panel in dashboard["panels"]:
        yield from ((f"panel {panel['title']}", target["expr"]) for target in panel["targets"])
    rules = yaml.safe_load((DEPLOY / "prometheus" / "lakestream.rules.yml").read_text())
    for rule in rules["groups"][0]["rules"]:
        yield f"alert {rule['alert']}", rule["expr"]


@pytest.mark.parametrize(("where", "expression"), list(expressions()))
def test_an_expression_names_what_is_exported(where: str, expression: str) -> None:
    metrics = exported()
    named = METRIC.findall(expression)
    assert named or expression.startswith("up{"), where
    assert set(named) <= set(metrics), where
    for labels in BY.findall(expression):
        assert set(labels.replace(" ", "").split(",")) <= set().union(*(metrics[name] for name in named)), where


def test_every_alert_has_a_severity_and_advice() -> None:
    rules = yaml.safe_load((DEPLOY / "prometheus" / "lakestream.rules.yml").read_text())["groups"][0]["rules"]
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 8
    for rule in rules:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"] and rule["annotations"]["advice"]


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads((DEPLOY / "grafana" / "lakestream.json").read_text())["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
