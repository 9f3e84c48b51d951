"""Which addresses only this machine can reach."""

from __future__ import annotations

from ipaddress import ip_address

__all__ = ["host_of", "is_loopback"]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host name or address; an IPv6 address may stand in brackets."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def host_of(header: str) -> str:
    """Return the host of a Host header, without its port."""
    host = header.rpartition("]")[0] + "]" if header.startswith("[") else header.partition(":")[0]
    return host.lower()
