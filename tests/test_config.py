from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, ClassVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.config import (
    REFERENCE,
    Settings,
    format_duration,
    json_schema,
    load_settings,
    parse_duration,
)
from analyzer.config_structs import build_detectors, build_struct
from analyzer.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


class HotKey(msgspec.Struct, frozen=True):
    share: float = 0.25
    least: int = 10
    name: ClassVar[str] = "hot-key"


class DeclaredScan(msgspec.Struct, frozen=True):
    name: ClassVar[str] = "declared-scan"


class Limits(msgspec.Struct, frozen=True):
    keys: int = 500


def load(tmp_path: Path, text: str, **environ: str) -> Settings:
    file = tmp_path / "dynascope.yaml"
    file.write_text(text, "utf-8")
    return load_settings(file, environ)


def faults(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    return [str(fault).removeprefix(str(tmp_path) + "/") for fault in caught.value.faults]


def test_defaults_hold_without_a_file() -> None:
    settings = load_settings(None, {})
    assert (settings.window_ms, settings.close_after_ms, settings.settle_ms) == (300_000, 30_000, 5000)
    assert (settings.listen_host, settings.listen_port) == ("127.0.0.1", 8642)
    assert (settings.keys, settings.salt_bytes()) == ("template", None)


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, "").effective() == load(tmp_path, "version: 1\n").effective()


def test_paths_are_taken_from_the_file_s_own_folder(tmp_path: Path) -> None:
    settings = load(tmp_path, "contract: c.yaml\nrequest_log: {files: ['logs/*.jsonl', /var/log/x]}\nstate: s\n")
    assert settings.contract == (str(tmp_path / "c.yaml"),)
    assert settings.request_log.files == (str(tmp_path / "logs/*.jsonl"), "/var/log/x")
    assert settings.state == str(tmp_path / "s")


def test_every_fault_is_told_at_once_with_line_and_mend(tmp_path: Path) -> None:
    text = """\
version: 2
windw: 5m
request_log:
  files: [a]
  file: b
window: 15s
close_after: 5
checkpoint_every: 10ms
account: 111122223333
keys: shown
log: {format: loud}
detectors:
  hot-key:
    share: [1]
"""
    assert faults(tmp_path, text) == [
        "dynascope.yaml:1: version: input should be 1; see `dynascope config --schema`",
        "dynascope.yaml:2: windw: unknown key; did you mean window?",
        "dynascope.yaml:5: request_log.file: unknown key; did you mean files?",
        "dynascope.yaml:6: window: a window is made of whole slices of 10s; write a multiple, such as 20s or 5m",
        "dynascope.yaml:7: close_after: 5 is not a duration; write a number with its unit, such as 30s or 5m",
        "dynascope.yaml:8: checkpoint_every: state is written once a second at most; write 1s or more",
        "dynascope.yaml:9: account: an account is a text of 12 digits; quote it, a leading zero would be lost",
        "dynascope.yaml:10: keys: input should be 'reveal', 'template' or 'token'; see `dynascope config --schema`",
        "dynascope.yaml:11: log.format: input should be 'text' or 'json'; see `dynascope config --schema`",
        "dynascope.yaml:14: detectors.hot-key.share: input should be a valid number; see `dynascope config --schema`",
    ]


def test_a_key_that_resembles_none_names_those_there_are(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, "log: {zzz: 1}\n")
    assert fault == "dynascope.yaml:1: log.zzz: unknown key; known: level, format; see `dynascope config --schema`"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: [", "dynascope.yaml:1: expected the node content, but found '<stream end>'; mend the YAML there"),
        ("salt: 1\nsalt: 2\n", 'dynascope.yaml:2: found duplicate key "salt"; mend the YAML there'),
        ("- a\n", "dynascope.yaml:1: the configuration is a mapping of keys; write `version: 1` and the keys below it"),
        ("a: \x00", "dynascope.yaml: not YAML; mend the YAML"),
    ],
)
def test_what_is_no_yaml_mapping_is_told_with_its_line(tmp_path: Path, text: str, fault: str) -> None:
    (told,) = faults(tmp_path, text)
    assert told == fault


def test_a_file_that_is_not_there_or_not_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"No such file or directory; name a file"):
        load_settings(tmp_path / "none.yaml", {})
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_settings(tmp_path / "binary.yaml", {})


@pytest.mark.parametrize("listen", ["0.0.0.0:80", "[::]:80", "metrics.example:80"])
def test_an_address_that_others_reach_must_be_asked_for(tmp_path: Path, listen: str) -> None:
    (fault,) = faults(tmp_path, f"listen: '{listen}'\n")
    assert "listen_unprotected: true" in fault
    assert load(tmp_path, f"listen: '{listen}'\nlisten_unprotected: true\n").listen == listen


@pytest.mark.parametrize("listen", ["localhost:0", "[::1]:8642", "127.0.0.1:65535"])
def test_a_loopback_address_needs_no_word(tmp_path: Path, listen: str) -> None:
    assert load(tmp_path, f"listen: '{listen}'\n").listen == listen


@pytest.mark.parametrize("listen", ["8642", "127.0.0.1", "127.0.0.1:65536", ":80", "127.0.0.1:x"])
def test_what_is_no_address_is_refused(tmp_path: Path, listen: str) -> None:
    (fault,) = faults(tmp_path, f"listen: '{listen}'\n")
    assert "write host:port" in fault


def test_the_salt_comes_from_the_environment_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "salt").write_text("from file\n")
    text = "salt_file: salt\n"
    assert load(tmp_path, text).salt_bytes() == b"from file"
    assert load(tmp_path, text, DYNASCOPE_SALT="from environment").salt_bytes() == b"from environment"
    (tmp_path / "other").write_text("other")
    assert load(tmp_path, text, DYNASCOPE_SALT_FILE=str(tmp_path / "other")).salt_bytes() == b"other"
    assert load(tmp_path, "salt: in the file\n").salt_bytes() == b"in the file"


def test_the_salt_is_never_shown(tmp_path: Path) -> None:
    settings = load(tmp_path, "salt: canary-salt\n")
    assert settings.effective()["salt"] == "set"
    assert "canary-salt" not in repr(settings) + str(settings.effective())


@pytest.mark.parametrize(
    ("text", "mend"),
    [("salt: ' '\n", "leave it out"), ("salt: a\nsalt_file: b\n", "keep one of them, better salt_file")],
)
def test_a_salt_that_says_nothing_or_is_said_twice_is_refused(tmp_path: Path, text: str, mend: str) -> None:
    (fault,) = faults(tmp_path, text)
    assert mend in fault
    assert "canary" not in fault


def test_a_salt_file_that_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    settings = load(tmp_path, "version: 1\nsalt_file: none\n")
    with pytest.raises(ConfigError, match=r"dynascope.yaml:2: salt_file: .*No such file"):
        settings.salt_bytes()
    (tmp_path / "none").write_text("\n")
    with pytest.raises(ConfigError, match=r"is empty; write the secret into it"):
        settings.salt_bytes()


def test_the_command_line_comes_before_all(tmp_path: Path) -> None:
    (tmp_path / "salt").write_text("by hand")
    given = {"window": "20s", "salt_file": tmp_path / "salt"}
    settings = load_settings(None, {"DYNASCOPE_SALT": "from environment"}, given)
    assert (settings.window_ms, settings.salt_bytes()) == (20_000, b"by hand")
    with pytest.raises(ConfigError, match=r"^command line: window: 'x' is not a duration"):
        load_settings(None, {}, {"window": "x"})


def test_nothing_else_of_the_environment_is_read(tmp_path: Path) -> None:
    assert load(tmp_path, "", DYNASCOPE_WINDOW="20s").window_ms == 300_000


def test_detectors_are_built_with_their_thresholds(tmp_path: Path) -> None:
    settings = load(tmp_path, "detectors: {hot-key: {share: 0.5}}\n")
    assert build_detectors(settings, (HotKey, DeclaredScan)) == (HotKey(share=0.5), DeclaredScan())


def test_thresholds_are_checked_against_their_detectors(tmp_path: Path) -> None:
    text = "detectors:\n  hot-kee: {}\n  hot-key:\n    shar: 1\n    share: much\n    least: 1.5\n"
    settings = load(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        build_detectors(settings, (HotKey, DeclaredScan))
    assert [str(fault).removeprefix(str(tmp_path) + "/") for fault in caught.value.faults] == [
        "dynascope.yaml:2: detectors.hot-kee: no such detector; did you mean hot-key?",
        "dynascope.yaml:4: detectors.hot-key.shar: unknown key; did you mean share?",
        f"dynascope.yaml:5: detectors.hot-key.share: Expected `float`, got `str`; its default is 0.25; see {REFERENCE}",
        f"dynascope.yaml:6: detectors.hot-key.least: Expected `int`, got `float`; its default is 10; see {REFERENCE}",
    ]


@pytest.mark.parametrize("value", [".nan", ".inf"])
def test_a_threshold_is_a_number_that_can_be_compared(tmp_path: Path, value: str) -> None:
    (fault,) = faults(tmp_path, f"detectors: {{hot-key: {{share: {value}}}}}\n")
    assert "detectors.hot-key.share: input should be a finite number" in fault


def test_limits_are_built_into_the_struct_they_are_for(tmp_path: Path) -> None:
    assert build_struct(load(tmp_path, "limits: {keys: 9}\n"), "limits", Limits) == Limits(keys=9)
    with pytest.raises(ConfigError, match=r"limits.kees: unknown key; did you mean keys"):
        build_struct(load(tmp_path, "limits: {kees: 9}\n"), "limits", Limits)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("250ms", 250), ("30s", 30_000), ("1h30m", 5_400_000), ("1.5m", 90_000), ("2d", 172_800_000)],
)
def test_durations_are_read_with_their_units(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize("text", ["", "5", "m", "5 parsecs", "-5s", "5s!", 5, None])
def test_what_is_no_duration_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["40000d", "9" * 400 + "d"])
def test_a_duration_beyond_all_measure_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="longer than a century"):
        parse_duration(text)


@given(st.integers(0, 10**12))
def test_a_duration_survives_being_written(milliseconds: int) -> None:
    assert parse_duration(format_duration(milliseconds)) == milliseconds


def test_the_schema_knows_every_key_of_the_effective_configuration() -> None:
    assert set(load_settings(None, {}).effective()) == set(json_schema()["properties"])


def test_reading_a_configuration_loads_nothing_heavy() -> None:
    script = (
        "import sys, analyzer.config; analyzer.config.load_settings(None, {});"
        "print({m.split('.')[0] for m in sys.modules} & {'numpy', 'aiohttp', 'pandas', 'boto3', 'lark'})"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "set()\n"


@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 [x, x, x, x, x, x, x, x]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 8}]\n" for n in range(1, 9)),
        "[" * 3000,
        "#" * 300_000,
    ],
    ids=["aliases", "nested", "long"],
)
def test_what_no_configuration_can_hold_is_refused_at_once(tmp_path: Path, text: str) -> None:
    (tmp_path / "dynascope.yaml").write_text(text)
    with pytest.raises(ConfigError, match="more than a configuration can"):
        load_settings(tmp_path / "dynascope.yaml", {})
