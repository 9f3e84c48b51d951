"""Commands show a daemon what it asks for: a token, or a client's certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.cli.daemon_report import fetch_report
from analyzer.cli.talking import CERTIFICATE, ask_daemon
from analyzer.errors import CollectError, UsageError
from analyzer.exporters.access import Access, Tls
from tests.support.certificates import make_certificates
from tests.support.page_server import PageServer

if TYPE_CHECKING:
    from pathlib import Path


def test_a_client_certificate_stands_for_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_certificates(tmp_path)
    access = Access(token="0123456789abcdef", tls=Tls(made.server, made.server_key, made.authority))
    monkeypatch.setenv("SSL_CERT_FILE", str(made.authority))
    monkeypatch.delenv("DYNASCOPE_TOKEN", raising=False)
    with PageServer(access=access) as served:
        url = served.url.replace("http://", "https://")
        with pytest.raises(CollectError) as refused:
            ask_daemon(url, "/api/v1/findings")
        assert CERTIFICATE in refused.value.hint
        monkeypatch.setenv(CERTIFICATE, str(made.client))
        assert ask_daemon(url, "/api/v1/findings")["v"] == 1


def test_a_report_is_fetched_with_the_certificate_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_certificates(tmp_path)
    access = Access(tls=Tls(made.server, made.server_key, made.authority))
    monkeypatch.setenv("SSL_CERT_FILE", str(made.authority))
    with PageServer(access=access) as served:
        url = served.url.replace("http://", "https://")
        with pytest.raises(CollectError) as refused:
            fetch_report(url)
        assert CERTIFICATE in refused.value.hint
        monkeypatch.setenv(CERTIFICATE, str(made.client))
        assert fetch_report(url).findings


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_file_that_is_no_certificate_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "client.pem").write_text(content)
    monkeypatch.setenv(CERTIFICATE, str(tmp_path / "client.pem"))
    with pytest.raises(UsageError, match="is no PEM file of a certificate with its key"):
        ask_daemon("https://127.0.0.1:1", "/api/v1/findings")
