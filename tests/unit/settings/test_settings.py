"""Settings: who wins, what is refused, what is shown."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from lakestream.model.errors import InvalidSetting
from lakestream.settings.address import Address, parse_address, parse_http_address
from lakestream.settings.describe import setting_rows
from lakestream.settings.load import Loaded, load_settings
from lakestream.settings.model import Settings
from lakestream.settings.names import setting_names
from lakestream.settings.serving import check_listeners


def loaded(tmp_path: Path, toml: str = "", env: dict[str, str] | None = None, **flags: object) -> Loaded:
    (tmp_path / "lakestream.toml").write_text(toml)
    named = {name.replace("__", "."): value for name, value in flags.items()}
    return load_settings(flags=named, environment=env or {}, file=None, folder=tmp_path)


def test_flags_go_before_variables_before_the_file_before_defaults(tmp_path: Path) -> None:
    toml = "[wal]\nlinger_ms = 1\nsegment_bytes = 65536\nuploads_in_flight = 2\n"
    env = {"LAKESTREAM_WAL_LINGER_MS": "3", "LAKESTREAM_WAL_UPLOADS_IN_FLIGHT": "4"}
    result = loaded(tmp_path, toml, env, wal__linger_ms="5")
    wal = result.settings.wal
    assert (wal.linger_ms, wal.uploads_in_flight, wal.segment_bytes, wal.cache_bytes) == (5, 4, 65536, 256 * 1024**2)
    assert result.source_of("wal.linger_ms") == "flag"
    assert result.source_of("wal.uploads_in_flight") == "LAKESTREAM_WAL_UPLOADS_IN_FLIGHT"
    assert result.source_of("wal.segment_bytes") == str(tmp_path / "lakestream.toml")
    assert result.source_of("wal.cache_bytes") == "default"


def test_flags_that_were_not_given_say_nothing(tmp_path: Path) -> None:
    result = loaded(tmp_path, 'data = "/from/file"', data=None)
    assert result.settings.data == Path("/from/file")


@pytest.mark.parametrize(
    ("toml", "advice"),
    [
        ("[wal]\nlinger = 1", "did you mean 'wal.linger_ms'"),
        ("[kafka]\nlisteneres = 'x:1'", "did you mean 'kafka.listeners'"),
        ("linger_ms = 1", "did you mean 'wal.linger_ms'"),
        ("xyzzy = 1", "`lakestream settings` lists"),
        ("[xyzzy]\nplugh = 1", "`lakestream settings` lists"),
    ],
)
def test_an_unknown_name_in_the_file_is_refused_with_the_nearest(tmp_path: Path, toml: str, advice: str) -> None:
    with pytest.raises(InvalidSetting, match=advice):
        loaded(tmp_path, toml)


def test_an_unknown_flag_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"did you mean 'broker\.lease_ms'"):
        loaded(tmp_path, broker__lease="1")


@pytest.mark.parametrize(
    ("variable", "advice"),
    [
        ("LAKESTREAM_WAL_LINGER", "did you mean LAKESTREAM_WAL_LINGER_MS?"),
        ("LAKESTREAM_KAFKA_LISTENER", "did you mean LAKESTREAM_KAFKA_LISTENERS?"),
        ("LAKESTREAM_KONFIG", "did you mean LAKESTREAM_CONFIG?"),
        ("LAKESTREAM_XYZZY_PLUGH_QUUX_FROTZ_OZMOO", "`lakestream settings`"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest(tmp_path: Path, variable: str, advice: str) -> None:
    with pytest.raises(InvalidSetting, match=re.escape(advice)):
        loaded(tmp_path, env={variable: "1"})


@pytest.mark.parametrize(
    "variable",
    [
        "LAKESTREAM_KAFKA_SERVICE_HOST",
        "LAKESTREAM_SERVICE_PORT",
        "LAKESTREAM_SERVICE_PORT_HTTP",
        "LAKESTREAM_PORT",
        "LAKESTREAM_PORT_9092_TCP",
        "LAKESTREAM_PORT_9092_TCP_ADDR",
        "LAKESTREAM_SOAK",
        "LAKESTREAM_SOAK_MINUTES",
    ],
)
def test_a_variable_of_kubernetes_or_of_tests_is_let_be(tmp_path: Path, variable: str) -> None:
    assert loaded(tmp_path, env={variable: "10.0.0.1"}).settings == Settings()


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("wal.linger_ms", "soon", "write a whole number, such as 250"),
        ("wal.linger_ms", "-1", "it must be 0 or more"),
        ("wal.linger_ms", "99999", "it must be 10000 or less"),
        ("wal.puts_per_second", "many", "write a number"),
        ("wal.puts_per_second", "0", "it must be more than 0"),
        ("kafka.auto_create_topics", "maybe", "write true or false"),
        ("produce.validation", "none", "use 'full' or 'header'"),
        ("kafka.listeners", "9092", "HOST:PORT"),
        ("kafka.listeners", "", "name at least 1"),
        ("kafka.listeners", "host:99999", "HOST:PORT"),
        ("http.listen", "https://127.0.0.1:8080", "HOST:PORT"),
        ("objects_options", "no-equals-sign", "name=value"),
        ("spark.conf", "executor.memory=4g", "they begin with 'spark.'"),
        ("spark.conf", "spark.speculation=true", "those of one would be left"),
        ("spark.conf", "spark.speculation.quantile=0.5", "those of one would be left"),
        ("spark.conf", "spark.driver.memory=4g", "a setting of its own: spark.driver_memory"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name_and_source_with_advice(
    tmp_path: Path, name: str, value: str, advice: str
) -> None:
    with pytest.raises(InvalidSetting) as caught:
        loaded(tmp_path, **{name.replace(".", "__"): value})
    assert f"'{name}'" in str(caught.value)
    assert "flag" in str(caught.value)
    assert advice in str(caught.value)
    assert "Input should" not in str(caught.value)


def test_broken_toml_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"lakestream\.toml is not valid TOML"):
        loaded(tmp_path, "[wal")


def test_a_named_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="there is no settings file"):
        load_settings(flags={}, environment={}, file=tmp_path / "gone.toml")


def test_the_file_can_be_named_by_a_variable(tmp_path: Path) -> None:
    named = tmp_path / "other.toml"
    named.write_text("[log]\nlevel = 'debug'")
    result = load_settings(flags={}, environment={"LAKESTREAM_CONFIG": str(named)}, file=None, folder=tmp_path)
    assert result.settings.log.level == "debug"


def test_several_listeners_are_separated_by_commas_or_a_list(tmp_path: Path) -> None:
    expected = (Address("127.0.0.1", 1), Address("::1", 2))
    assert loaded(tmp_path, kafka__listeners="127.0.0.1:1,[::1]:2").settings.kafka.listeners == expected
    toml = "[kafka]\nlisteners = ['127.0.0.1:1', '[::1]:2']"
    assert loaded(tmp_path, toml).settings.kafka.listeners == expected


def test_options_of_the_object_store_are_a_table_or_pairs(tmp_path: Path) -> None:
    expected = {"endpoint": "http://127.0.0.1:9000", "unsigned_payload": "true"}
    toml = "[objects_options]\nendpoint = 'http://127.0.0.1:9000'\nunsigned_payload = true"
    assert loaded(tmp_path, toml).settings.objects_options == expected
    env = {"LAKESTREAM_OBJECTS_OPTIONS": "endpoint=http://127.0.0.1:9000, unsigned_payload=true"}
    assert loaded(tmp_path, env=env).settings.objects_options == expected


def test_settings_of_spark_are_a_table_of_tables_or_of_quoted_names_or_pairs(tmp_path: Path) -> None:
    expected = {"spark.executor.memory": "4g", "spark.executor.cores": "2", "spark.ui.enabled": "true"}
    tables = "[spark.conf]\nspark.executor.memory = '4g'\nspark.executor.cores = 2\nspark.ui.enabled = true"
    assert loaded(tmp_path, tables).settings.spark.conf == expected
    quoted = "[spark.conf]\n'spark.executor.memory' = '4g'\n'spark.executor.cores' = 2\nspark.ui.enabled = true"
    assert loaded(tmp_path, quoted).settings.spark.conf == expected
    env = {"LAKESTREAM_SPARK_CONF": "spark.executor.memory=4g,spark.executor.cores=2,spark.ui.enabled=true"}
    assert loaded(tmp_path, env=env).settings.spark.conf == expected


def test_several_roots_of_tables_are_separated_by_commas_or_a_list(tmp_path: Path) -> None:
    expected = ("s3://warehouse/tables", "file:///mnt/lake")
    assert (
        loaded(tmp_path, catalog__roots="s3://warehouse/tables/, file:///mnt/lake").settings.catalog.roots == expected
    )
    toml = "[catalog]\nroots = ['s3://warehouse/tables', 'file:///mnt/lake/']"
    assert loaded(tmp_path, toml).settings.catalog.roots == expected
    assert loaded(tmp_path).settings.catalog.roots == ()


@pytest.mark.parametrize("name", ["kafka__listeners", "http__listen", "broker__http"])
def test_a_listener_that_others_can_reach_must_be_allowed(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidSetting, match="--allow-insecure"):
        check_listeners(loaded(tmp_path, **{name: "10.1.2.3:9000"}).settings)
    check_listeners(loaded(tmp_path, **{name: "10.1.2.3:9000", "allow_insecure": True}).settings)


def test_listening_everywhere_needs_an_advertised_address(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"kafka\.advertised"):
        check_listeners(loaded(tmp_path, kafka__listeners="0.0.0.0:9092", allow_insecure=True).settings)
    flags = {"kafka__listeners": "0.0.0.0:9092", "kafka__advertised": "me.example:9092", "allow_insecure": True}
    check_listeners(loaded(tmp_path, **flags).settings)


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Settings().wal.linger_ms = 1  # type: ignore[misc]


def test_stores_lie_in_the_data_folder_unless_named(tmp_path: Path) -> None:
    settings = loaded(tmp_path, data="/srv/ls").settings
    assert settings.metadata_url == "sqlite:///srv/ls/metadata.db"
    assert settings.objects_url == "file:///srv/ls/objects"
    assert loaded(tmp_path, objects="s3://b/p").settings.objects_url == "s3://b/p"


def test_every_setting_has_a_meaning_and_a_variable_of_its_own() -> None:
    names = list(setting_names())
    assert all(name.meaning.endswith(".") for name in names)
    assert len({name.variable for name in names}) == len(names)


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    result = loaded(
        tmp_path,
        metadata="postgresql://me:hunter2@db/ls",
        objects_options="secret_access_key=hunter2,region=eu",
        spark__conf="spark.authenticate.secret=hunter2,spark.executor.cores=2",
    )
    assert "hunter2" not in repr(setting_rows(result))
    assert "postgresql://me:***@db/ls" in repr(setting_rows(result))
    assert "eu" in repr(setting_rows(result))


def test_secrets_are_not_quoted_in_errors(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="options are written name=value") as refused:
        loaded(tmp_path, objects_options='{"secret_access_key": "hunter2"}')
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "host", "port", "loopback"),
    [
        ("127.0.0.1:9092", "127.0.0.1", 9092, True),
        ("127.9.9.9:1", "127.9.9.9", 1, True),
        ("localhost:0", "localhost", 0, True),
        ("[::1]:80", "::1", 80, True),
        ("0.0.0.0:80", "0.0.0.0", 80, False),
        ("broker.example:80", "broker.example", 80, False),
    ],
)
def test_an_address_is_read_and_written_alike(text: str, host: str, port: int, loopback: bool) -> None:
    address = parse_address(text)
    assert (address.host, address.port, address.is_loopback, str(address)) == (host, port, loopback, text)


@pytest.mark.parametrize(
    "text", ["127.0.0.1:8080", "http://127.0.0.1:8080", "http://127.0.0.1:8080/", "127.0.0.1:8080/"]
)
def test_an_http_address_may_be_the_one_that_a_browser_shows(text: str) -> None:
    assert parse_http_address(text) == Address("127.0.0.1", 8080)
    settings = load_settings(flags={"http.listen": text}, environment={}, file=None).settings
    assert str(settings.http.listen) == "127.0.0.1:8080"


@pytest.mark.parametrize("text", ["https://127.0.0.1:8080", "http://127.0.0.1:8080/iceberg", "http://127.0.0.1"])
def test_what_is_no_http_address_is_refused_with_one_that_is(text: str) -> None:
    with pytest.raises(ValueError, match=r"for example 127\.0\.0\.1:8080"):
        parse_http_address(text)
