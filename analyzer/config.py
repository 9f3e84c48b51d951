"""The configuration: read from YAML, checked whole, every fault told at once with file, line and mend.

Paths in the file are taken from the file's own folder. Durations are written `30s`, `5m`, and kept as milliseconds.
The environment overrides the secrets, salt and token, and nothing else.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from pydantic import (
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    field_validator,
)

from analyzer.config_access import TlsSettings, check_address, check_token, tls_of, token_of
from analyzer.config_aws import (
    AwsAccountSettings,
    AwsSettings,
    CanaryIndexSettings,
    CanarySettings,
    ChangesSettings,
    CloudwatchMetricsSettings,
    ContributorInsightsSettings,
    TableCatalogSettings,
    TablesSettings,
)
from analyzer.config_faults import faults_of, line_of, without
from analyzer.config_file import Lines, read_yaml
from analyzer.config_history import HistorySettings, is_bucket
from analyzer.config_kinds import (
    UNITS_MS,
    AccountNumber,
    Duration,
    Limit,
    Section,
    Texts,
    format_duration,
    parse_duration,
    split_address,
)
from analyzer.config_prices import PricesSettings, price_sections
from analyzer.config_request_log import (
    CloudwatchLogsSettings,
    OtlpSettings,
    RequestLogSettings,
    S3Settings,
    XraySettings,
)
from analyzer.errors import ConfigError, Fault
from analyzer.exporters.access import Access

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidationInfo

__all__ = [
    "DEFAULT_LISTEN",
    "NO_FILE",
    "REFERENCE",
    "Settings",
    "format_duration",
    "json_schema",
    "load_settings",
    "parse_duration",
    "read_settings",
]

DEFAULT_LISTEN = "127.0.0.1:8642"
NO_FILE = "configuration"
"""What faults name where no file was given."""
REFERENCE = "docs/reference/configuration.md"
_SLICE_MS = 10_000
_SECRET_FILES = ("salt_file", "token_file")

Threshold = Annotated[float, Field(allow_inf_nan=False)] | int | bool | str
Thresholds = dict[str, Threshold]


class LogSettings(Section):
    """How the daemon speaks of itself."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="what is worth a line")
    format: Literal["text", "json"] = Field(default="text", description="lines for eyes, or for programs")


class Settings(Section):
    """The whole configuration, checked; a default stands for whatever the file leaves out."""

    version: Literal[1] = Field(1, description="version of this format")
    contract: Texts = Field((), description="files of declared access patterns")
    request_log: RequestLogSettings = RequestLogSettings.model_validate({})
    aws: AwsSettings | None = Field(None, description="what is read from AWS; nothing is without this section")
    table_catalog: TableCatalogSettings = TableCatalogSettings.model_validate({})
    cloudwatch_metrics: CloudwatchMetricsSettings = CloudwatchMetricsSettings.model_validate({})
    contributor_insights: ContributorInsightsSettings = ContributorInsightsSettings.model_validate({})
    changes: ChangesSettings = ChangesSettings.model_validate({})
    canary: CanarySettings | None = Field(None, description="probes of indexes, which write; none without this section")
    history: HistorySettings | None = Field(
        None, description="minutes of traffic, written down for the weekly report; none are without this section"
    )
    window_ms: Duration = Field(300_000, alias="window", description="the stretch that is judged, in whole slices")
    close_after_ms: Duration = Field(30_000, alias="close_after", description="a finding closes when it failed so long")
    settle_ms: Duration = Field(5000, alias="settle", description="how long to wait for records that are on their way")
    mode: Literal["observe", "page"] | None = Field(
        None,
        description="`observe`: nothing pages; `page`: at once; left out: a new install observes for `observe_for`",
    )
    observe_for_ms: Duration = Field(
        604_800_000, alias="observe_for", description="how long a new install observes before anything pages"
    )
    checkpoint_every_ms: Duration = Field(10_000, alias="checkpoint_every", description="how often state is written")
    listen_unprotected: bool = Field(
        default=False, description="allow an address that other machines can reach, without token or certificate"
    )
    token: SecretStr | None = Field(
        None, description="what clients of the API and the page have to know; better a file", repr=False
    )
    token_file: str | None = Field(None, description="file that holds the token")
    tls: TlsSettings | None = Field(None, description="serve HTTPS; without it a token is sent in clear")
    requests_per_minute: Limit = Field(1200, description="of the API from one address; beyond them 429")
    listen: str = Field(DEFAULT_LISTEN, description="host:port of the page, API, metrics, health and docs")
    state: str = Field("dynascope-state", description="folder of the daemon's state")
    keys: Literal["reveal", "template", "token"] = Field(
        "template", description="how keys are shown; the daemon knows them as tokens at most"
    )
    salt: SecretStr | None = Field(None, description="secret of the key tokens; better a file", repr=False)
    salt_file: str | None = Field(None, description="file that holds the secret of the key tokens")
    region: str | None = Field(None, description="region of the tables, where the log does not say")
    account: AccountNumber | None = Field(None, description="account of the tables, where the log does not say")
    detectors: dict[str, Thresholds] = Field({}, description="thresholds by detector")
    prices: PricesSettings = PricesSettings.model_validate({})
    limits: dict[str, Limit] = Field({}, description="bounds of what is kept in memory")
    log: LogSettings = LogSettings()
    _file: str = PrivateAttr(NO_FILE)
    _lines: Lines = PrivateAttr(default_factory=dict)

    @field_validator("window_ms")
    @classmethod
    def _window_is_slices(cls, value: int) -> int:
        if value < _SLICE_MS or value % _SLICE_MS:
            raise ValueError("a window is made of whole slices of 10s; write a multiple, such as 20s or 5m")
        return value

    @field_validator("checkpoint_every_ms")
    @classmethod
    def _checkpoint_is_not_constant(cls, value: int) -> int:
        if value < UNITS_MS["s"]:
            raise ValueError("state is written once a second at most; write 1s or more")
        return value

    @field_validator("token")
    @classmethod
    def _token_is_safe(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            check_token(value.get_secret_value())
        return value

    @field_validator("token_file")
    @classmethod
    def _one_token(cls, value: str | None, others: ValidationInfo) -> str | None:
        if value is not None and others.data.get("token") is not None:
            raise ValueError("token is set too; keep one of them, better token_file")
        return value

    @field_validator("listen")
    @classmethod
    def _listen_is_a_safe_address(cls, value: str, others: ValidationInfo) -> str:
        check_address(value, DEFAULT_LISTEN, others.data)
        return value

    @field_validator("salt")
    @classmethod
    def _salt_says_something(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().strip():
            raise ValueError("the salt is empty; leave it out, or set DYNASCOPE_SALT")
        return value

    @field_validator("salt_file")
    @classmethod
    def _one_salt(cls, value: str | None, others: ValidationInfo) -> str | None:
        if value is not None and others.data.get("salt") is not None:
            raise ValueError("salt is set too; keep one of them, better salt_file")
        return value

    @property
    def file(self) -> str:
        """The file that it was read from, as faults call it."""
        return self._file

    @property
    def listen_host(self) -> str:
        """The host to listen on, an IPv6 address without its brackets."""
        return split_address(self.listen, DEFAULT_LISTEN)[0]

    @property
    def listen_port(self) -> int:
        """The port to listen on; 0 takes any free one."""
        return split_address(self.listen, DEFAULT_LISTEN)[1]

    def salt_bytes(self) -> bytes | None:
        """Return the salt of the key tokens, None where nobody set one; raises ConfigError where its file fails."""
        if self.salt is not None:
            return self.salt.get_secret_value().strip().encode()
        if self.salt_file is None:
            return None
        try:
            secret = Path(self.salt_file).read_bytes().strip()
        except OSError as error:
            mend = "write the shared secret into it, or leave salt_file out"
            raise ConfigError((self.fault(("salt_file",), f"{self.salt_file}: {error.strerror}", mend),)) from None
        if not secret:
            raise ConfigError((self.fault(("salt_file",), f"{self.salt_file} is empty", "write the secret into it"),))
        return secret

    def access(self) -> Access:
        """Return what is asked of clients; raises ConfigError with every fault of the files that it rests on."""
        faults: list[Fault] = []
        token, tls = None, None
        try:
            token = token_of(self.token, self.token_file)
        except ValueError as error:
            faults.append(self.fault(("token_file",), str(error), "write the token into it, on a line of its own"))
        try:
            tls = tls_of(self.tls)
        except ValueError as error:
            faults.append(self.fault(("tls",), str(error), f"name PEM files that belong together; see {REFERENCE}"))
        if faults:
            raise ConfigError(tuple(faults))
        return Access(token, tls, self.requests_per_minute)

    def fault(self, path: tuple[str, ...], message: str, mend: str) -> Fault:
        """Return a fault of one field, with its line where the file has it."""
        return Fault(self._file, line_of(self._lines, path), ".".join(path), message, mend)

    def effective(self) -> dict[str, Any]:
        """Return everything that holds, ready to print: durations as text, secrets as `set` or `unset`."""
        shown = self.model_dump(mode="json")
        shown |= {name: "unset" if getattr(self, name) is None else "set" for name in ("salt", "token")}
        return shown


def load_settings(
    path: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """Read like `read_settings`, but raise ConfigError with every fault."""
    settings, faults = read_settings(path, environ, overrides)
    if faults:
        raise ConfigError(faults)
    return settings


def read_settings(
    path: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> tuple[Settings, tuple[Fault, ...]]:
    """Return what holds and every fault; what is faulty has its default, so that what else is wrong can be found too.

    Without a path, defaults and the secrets of the environment. `overrides` are what the command line sets; its paths,
    like those of the environment, are not the file's. Raises ConfigError for a file that is no mapping at all.
    """
    environ = os.environ if environ is None else environ
    content, lines = ({}, {}) if path is None else read_yaml(Path(path))
    file = NO_FILE if path is None else str(path)
    given = {**_secrets(environ, overrides or {}), **(overrides or {})}
    given |= {name: str(Path(str(given[name])).absolute()) for name in _SECRET_FILES if given.get(name) is not None}
    settings, found = _validate({**content, **given}, file, lines)
    faults = (
        msgspec.structs.replace(fault, file="command line", line=None) if fault.field in (overrides or {}) else fault
        for fault in found
    )
    if path is not None:
        settings = _from_folder(settings, Path(path).parent)
    settings._file = file  # noqa: SLF001 -- the class and its reader are one module
    settings._lines = lines  # noqa: SLF001 -- same
    return settings, tuple(sorted(faults, key=lambda fault: fault.line or 0))


def _secrets(environ: Mapping[str, str], overrides: Mapping[str, object]) -> dict[str, object]:
    """Return what the environment says of secrets: one of it stands for both ways in which the file may say it."""
    found: dict[str, object] = {}
    for name in ("salt", "token"):
        secret, file = environ.get(f"DYNASCOPE_{name.upper()}"), environ.get(f"DYNASCOPE_{name.upper()}_FILE")
        if f"{name}_file" in overrides:
            found[name] = None
        elif secret or file:
            found |= {name: secret or None, f"{name}_file": None if secret else file}
    return found


def _validate(content: dict[str, Any], file: str, lines: Lines) -> tuple[Settings, tuple[Fault, ...]]:
    """Validate; where that fails, take out what is faulty until the rest holds."""
    faults: tuple[Fault, ...] = ()
    while True:
        try:
            return Settings.model_validate(content), faults
        except ValidationError as error:
            sections = _SECTIONS | price_sections(content.get("prices"), "prices.")
            faults = faults or faults_of(error, file, lines, sections)
            rest = without(content, error)
            content = rest if rest != content else {}


_SECTIONS: dict[str, type[Section]] = {
    "": Settings,
    "request_log": RequestLogSettings,
    "request_log.s3": S3Settings,
    "request_log.cloudwatch_logs": CloudwatchLogsSettings,
    "request_log.otlp": OtlpSettings,
    "request_log.xray": XraySettings,
    "aws": AwsSettings,
    "aws.accounts": AwsAccountSettings,
    "aws.tables": TablesSettings,
    "table_catalog": TableCatalogSettings,
    "cloudwatch_metrics": CloudwatchMetricsSettings,
    "contributor_insights": ContributorInsightsSettings,
    "changes": ChangesSettings,
    "canary": CanarySettings,
    "canary.indexes": CanaryIndexSettings,
    "history": HistorySettings,
    "tls": TlsSettings,
    "log": LogSettings,
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the configuration file."""
    schema = Settings.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Dynascope configuration"}


def _from_folder(settings: Settings, folder: Path) -> Settings:
    def place(text: str) -> str:
        return str(folder / Path(text).expanduser())

    paths = {
        "contract": tuple(place(text) for text in settings.contract),
        "request_log": settings.request_log.model_copy(
            update={"files": tuple(place(text) for text in settings.request_log.files)}
        ),
        "state": place(settings.state),
        "history": settings.history
        if settings.history is None or is_bucket(settings.history.to)
        else settings.history.model_copy(update={"to": place(settings.history.to)}),
        "prices": settings.prices
        if settings.prices.file is None
        else settings.prices.model_copy(update={"file": place(settings.prices.file)}),
        "salt_file": None if settings.salt_file is None else place(settings.salt_file),
        "token_file": None if settings.token_file is None else place(settings.token_file),
        "tls": None if settings.tls is None else settings.tls.from_folder(place),
    }
    return settings.model_copy(update=paths)
