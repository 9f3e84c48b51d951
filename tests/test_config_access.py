"""What the configuration says of tokens and certificates: told with every fault before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.config import load_settings, read_settings
from analyzer.errors import ConfigError
from tests.support.certificates import make_certificates

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.certificates import Certificates

TOKEN = "0123456789abcdef0123"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def written(folder: Path, text: str) -> Path:
    path = folder / "dynascope.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "guard", ["listen_unprotected: true", f"token: {TOKEN}", "token_file: t", "tls: {cert: a, key: b, client_ca: c}"]
)
def test_other_machines_are_let_in_where_something_guards_or_somebody_says_so(tmp_path: Path, guard: str) -> None:
    settings = load_settings(written(tmp_path, f"listen: '0.0.0.0:8642'\n{guard}\n"), {})
    assert settings.listen_host == "0.0.0.0"


@pytest.mark.parametrize("guard", ["", "tls: {cert: a, key: b}", "requests_per_minute: 1"])
def test_other_machines_are_not_let_in_where_nothing_guards(tmp_path: Path, guard: str) -> None:
    _, faults = read_settings(written(tmp_path, f"listen: '0.0.0.0:8642'\n{guard}\n"), {})
    (fault,) = map(str, faults)
    assert "asked for nothing; set token_file, or tls with client_ca" in fault
    assert "dynascope.yaml:1: listen" in fault


def test_a_faulty_guard_is_told_alone(tmp_path: Path) -> None:
    _, faults = read_settings(written(tmp_path, "listen: '0.0.0.0:8642'\ntoken: short\n"), {})
    (fault,) = map(str, faults)
    assert "less than 16 characters can be guessed; make one with `openssl rand -hex 32`" in fault
    assert "short" not in fault


@pytest.mark.parametrize("token", ["two words of a token", "tökentökentökentöken"])
def test_a_token_that_no_header_holds_is_a_fault(tmp_path: Path, token: str) -> None:
    _, faults = read_settings(written(tmp_path, f"token: {token}\n"), {})
    assert "printable ASCII without spaces" in str(faults[0])
    assert token not in str(faults[0])


def test_one_token_is_enough(tmp_path: Path) -> None:
    _, faults = read_settings(written(tmp_path, f"token: {TOKEN}\ntoken_file: t\n"), {})
    assert "token is set too" in str(faults[0])


def test_the_token_comes_from_its_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(f"{TOKEN}\n")
    assert load_settings(written(tmp_path, "token_file: t\n"), {}).access().token == TOKEN


@pytest.mark.parametrize(
    ("environ", "token"),
    [
        ({"DYNASCOPE_TOKEN": "f" * 16}, "f" * 16),
        ({"DYNASCOPE_TOKEN_FILE": "other"}, TOKEN),
        ({"DYNASCOPE_TOKEN": ""}, "e" * 16),
    ],
)
def test_the_environment_overrides_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], token: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text(TOKEN)
    assert load_settings(written(tmp_path, f"token: {'e' * 16}\n"), environ).access().token == token


def test_a_token_is_never_printed(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, f"token: {TOKEN}\n"), {})
    assert settings.effective()["token"] == "set"
    assert TOKEN not in repr(settings)


def test_every_fault_of_the_files_is_told_at_once(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, "token_file: none\ntls: {cert: a, key: b}\n"), {})
    with pytest.raises(ConfigError) as caught:
        settings.access()
    assert "none: No such file or directory" in str(caught.value)
    assert "a: no such file" in str(caught.value)


@pytest.mark.parametrize(("content", "told"), [(b"short", "can be guessed"), (b"\xff\xfe", "it is no text")])
def test_a_file_that_holds_no_token_is_a_fault(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(ConfigError, match=told):
        load_settings(written(tmp_path, "token_file: t\n"), {}).access()


def test_certificates_that_belong_together_are_taken(tmp_path: Path, certificates: Certificates) -> None:
    names = f"cert: {certificates.server}, key: {certificates.server_key}, client_ca: {certificates.authority}"
    access = load_settings(written(tmp_path, f"tls: {{{names}}}\n"), {}).access()
    assert access.is_guarded
    assert access.tls is not None


def test_a_key_of_another_certificate_is_a_fault(tmp_path: Path, certificates: Certificates) -> None:
    names = f"cert: {certificates.server}, key: {certificates.client}"
    with pytest.raises(ConfigError, match="do not work together"):
        load_settings(written(tmp_path, f"tls: {{{names}}}\n"), {}).access()


def test_a_key_that_cannot_be_read_is_a_fault(
    tmp_path: Path, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("analyzer.exporters.access.Tls.context", refuse)
    names = f"cert: {certificates.server}, key: {certificates.server_key}"
    with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        load_settings(written(tmp_path, f"tls: {{{names}}}\n"), {}).access()
