"""The show policy: what of a key may be seen. Everything that prints a report passes through here first."""

from __future__ import annotations

import json
import re
import secrets
import shlex
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from analyzer.lifecycle.way_back import with_way_back
from analyzer.render.words import key_words
from analyzer.requests.tokens import Salt, is_placeholder, is_token, rewrite, template_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.model.finding import Advice, Finding, KeyShown
    from analyzer.model.report import KeyLine, Report

    View = Callable[[KeyShown | None, KeyShown | None], KeyShown | None]

__all__ = ["PLACEHOLDER", "Policy", "has_tokens", "show", "show_finding", "view_of"]

PLACEHOLDER = "{key}"
"""What a finding's texts hold where a key belongs."""

_SEGMENTS = re.compile(r"[#|/]")

Policy = Literal["reveal", "template", "token"]


def show(report: Report, policy: Policy, salt: Salt | None = None) -> Report:
    """Return a report that holds of each key only what the policy allows, with every `{key}` filled in.

    `reveal` shows what was read, `template` the shape alone, `token` a keyed hash of each part that is no literal;
    without a salt the tokens are this process's own. The evidence below the report, `traffic`, stays behind.
    """
    view = view_of(policy, salt)
    findings = tuple(show_finding(finding, view) for finding in report.findings)
    told = next((finding.key for finding in findings if finding.id and finding.id == report.verdict.finding), None)
    return replace(
        report,
        verdict=replace(report.verdict, text=report.verdict.text.replace(PLACEHOLDER, key_words(told))),
        findings=findings,
        keys=tuple(_show_line(line, view) for line in report.keys),
        traffic=(),
    )


def view_of(policy: Policy, salt: Salt | None = None) -> View:
    """Return what shows a key, of which the template is known too, as the policy allows."""
    if policy == "reveal":
        return _reveal
    if policy == "template":
        return _template
    hashing = salt or Salt(secrets.token_bytes(32), is_joinable=False)

    def view(key: KeyShown | None, template: KeyShown | None) -> KeyShown | None:
        return _token(key, template, hashing)

    return view


def has_tokens(key: KeyShown | None) -> bool:
    """Whether a key, or a part of it, is known as a token alone, which nobody can turn round."""
    return any(is_token(part) for value in (key or {}).values() for part in _SEGMENTS.split(str(value)))


def _reveal(key: KeyShown | None, template: KeyShown | None) -> KeyShown | None:
    return key if key is not None else template


def _template(key: KeyShown | None, template: KeyShown | None) -> KeyShown | None:
    if template is not None or key is None:
        return template
    return {name: template_value(str(value)) for name, value in key.items()}


def _token(key: KeyShown | None, template: KeyShown | None, salt: Salt) -> KeyShown | None:
    if key is None:
        return template
    shapes = template or {}
    return {name: _tokenize(str(value), str(shapes.get(name, "")), salt) for name, value in key.items()}


def _tokenize(value: str, template: str, salt: Salt) -> str:
    """Hash each segment of a value that its template does not spell out; a token stays, and the star of a prefix."""
    literals = {segment for segment in _SEGMENTS.split(template) if not is_placeholder(segment)} | {"*"}
    return rewrite(value, lambda part: part if part in literals or is_token(part) else salt.token(part))


def show_finding(finding: Finding, view: View) -> Finding:
    """Return a finding that holds of its key only what `view` allows, with every `{key}` filled in.

    Its advice names the deploy to roll back, where one of its caller's stands shortly before it began.
    """
    finding = with_way_back(finding)
    key = view(finding.key, finding.key_template)
    name = key_words(key)

    def fill(text: str | None) -> str | None:
        return None if text is None else text.replace(PLACEHOLDER, name)

    heals = finding.self_heals
    return replace(
        finding,
        key=key,
        summary=finding.summary.replace(PLACEHOLDER, name),
        because=fill(finding.because),
        caveat=fill(finding.caveat),
        self_heals=None if heals is None else replace(heals, reason=heals.reason.replace(PLACEHOLDER, name)),
        advice=tuple(_show_advice(advice, name) for advice in finding.advice),
    )


def _show_advice(advice: Advice, name: str) -> Advice:
    return replace(
        advice,
        text=advice.text.replace(PLACEHOLDER, name),
        effect=None if advice.effect is None else advice.effect.replace(PLACEHOLDER, name),
        command=None if advice.command is None else _fill_command(advice.command, name),
        snippet=None if advice.snippet is None else advice.snippet.replace(PLACEHOLDER, name),
    )


def _fill_command(command: str, name: str) -> str:
    """Put a key into a shell command so that it stays one word, whatever it holds."""
    pieces = command.split(PLACEHOLDER)
    filled = pieces[0]
    for piece in pieces[1:]:
        filled += _quoted(name, filled) + piece
    return filled


def _quoted(name: str, before: str) -> str:
    quote = ""
    for character in before:
        if character in "'\"" and quote in ("", character):
            quote = "" if quote else character
    if quote == "'":
        inner = json.dumps(name, ensure_ascii=False)[1:-1] if before.endswith('"') else name
        return inner.replace("'", "'\\''")
    if quote == '"':
        return f'"{shlex.quote(name)}"'  # out of the double quotes and back in
    return shlex.quote(name)


def _show_line(line: KeyLine, view: View) -> KeyLine:
    return replace(line, key=view(line.key, line.key_template) or line.key_template)
