"""`lakestream schema`, against a running gateway."""

import json
from pathlib import Path

import pytest

from tests.integration.up_process import Done, Up, command


@pytest.fixture
def schema(up: Up, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Commands":
    monkeypatch.chdir(tmp_path)
    return Commands(up.http, tmp_path)


class Commands:
    def __init__(self, http: str, folder: Path) -> None:
        self._http = http
        self._folder = folder

    def __call__(self, *arguments: str) -> Done:
        return command("schema", *arguments, "--http", self._http)

    def done(self, *arguments: str) -> str:
        done = self(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def file(self, name: str, text: str) -> str:
        path = self._folder / name
        path.write_text(text)
        return str(path)


def order(*fields: str) -> str:
    return json.dumps({"type": "record", "name": "O", "fields": [{"name": name, "type": "int"} for name in fields]})


def test_register_check_show_list_delete(schema: Commands) -> None:
    first, second = schema.file("a.avsc", order("a")), schema.file("b.avsc", order("a", "b"))
    assert "version 1" in schema.done("register", "cli/orders", first)
    assert json.loads(schema.done("show", "cli/orders", "--json"))["schema"] == order("a").replace(" ", "")
    refused = schema("check", "cli/orders", second)
    assert refused.returncode == 1
    assert "field 'b' of record O" in refused.stderr
    assert "compatibility NONE" in schema.done("config", "cli/orders", "--level", "none")
    assert "compatible" in schema.done("check", "cli/orders", second)
    assert "version 2" in schema.done("register", "cli/orders", second)
    listed = json.loads(schema.done("list", "--prefix", "cli/", "--json"))
    assert [(one["subject"], one["version"]) for one in listed] == [("cli/orders", 2)]
    assert "cli/orders" in schema.done("list")
    assert "compatibility BACKWARD" in schema.done("config", "cli/orders", "--unset")
    assert "deleted 2" in schema.done("delete", "cli/orders", "--version", "latest")
    assert "deleted 1" in schema.done("delete", "cli/orders")
    assert "permanently 1, 2" in schema.done("delete", "cli/orders", "--permanent")
    gone = schema("show", "cli/orders")
    assert (gone.returncode, "40401" in gone.stderr) == (1, True)


def test_references_and_types_by_ending(schema: Commands) -> None:
    line = schema.file("line.proto", 'syntax = "proto3"; message Line { int32 n = 1; }')
    cart = schema.file(
        "cart.proto", 'syntax = "proto3"; import "line.proto"; message Cart { repeated Line lines = 1; }'
    )
    schema.done("register", "cli-line", line)
    schema.done("register", "cli-cart", cart, "--reference", "line.proto=cli-line:1")
    assert "refers to line.proto: cli-line version 1" in schema.done("show", "cli-cart")
    assert schema("register", "x", schema.file("x.txt", "")).returncode == 2
    assert schema("register", "x", cart, "--reference", "line.proto").returncode == 2
