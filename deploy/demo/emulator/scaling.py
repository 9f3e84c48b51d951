"""Application Auto Scaling: what moto has, what a test planted beside it, and activities, which moto lacks.

Planted entries have the shape of AWS's JSON, with times in seconds since the epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from deploy.demo.emulator.wire import Rejected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deploy.demo.emulator.minutes import Place
    from deploy.demo.emulator.moto import Moto
    from deploy.demo.emulator.wire import Asked

__all__ = ["MEMBERS", "Scaling"]

Body = dict[str, Any]

MEMBERS = {
    "DescribeScalableTargets": "ScalableTargets",
    "DescribeScalingPolicies": "ScalingPolicies",
    "DescribeScheduledActions": "ScheduledActions",
    "DescribeScalingActivities": "ScalingActivities",
}
_LACKING = "DescribeScalingActivities"
_PAGE = 50
_OK = 200


class Scaling:
    """Serves the four descriptions."""

    def __init__(self, moto: Moto) -> None:
        self._moto = moto
        self._planted: dict[tuple[Place, str], list[Body]] = {}

    def plant(self, place: Place, member: str, entries: list[Body]) -> None:
        """Add entries of a kind, by the name of the answer's member; raises ValueError where there is no such kind."""
        if member not in MEMBERS.values():
            raise ValueError(f"{member} is none of {', '.join(MEMBERS.values())}")
        self._planted.setdefault((place, member), []).extend(entries)

    def clear(self) -> None:
        """Forget what was planted."""
        self._planted.clear()

    async def serve(self, asked: Asked) -> Body:
        """Serve one call; raises Rejected."""
        if not asked.body.get("ServiceNamespace"):
            raise Rejected("ValidationException", "ServiceNamespace is required")
        member = MEMBERS[asked.operation]
        own = self._planted.get((asked.place, member), [])
        found = [each for each in own if _fits(each, asked.body)]
        if asked.operation == _LACKING:
            found.sort(key=lambda each: -float(each.get("StartTime", 0)))
        else:
            found = [*await self._of_moto(asked, member), *found]
        start, size = int(asked.body.get("NextToken") or 0), int(asked.body.get("MaxResults") or _PAGE)
        told: Body = {member: found[start : start + size]}
        if start + size < len(found):
            told["NextToken"] = str(start + size)
        return told

    async def _of_moto(self, asked: Asked, member: str) -> list[Body]:
        body = {name: value for name, value in asked.body.items() if name not in {"MaxResults", "NextToken"}}
        found: list[Body] = []
        while True:
            status, _, raw = await self._moto.forward("POST", "/", msgspec.json.encode(body), asked.headers)
            answer = msgspec.json.decode(raw) if status == _OK else None
            if answer is None:
                raise Rejected("InternalServiceException", f"moto does not serve {asked.operation}", 500)
            found += answer.get(member) or ()
            if not answer.get("NextToken"):
                return found
            body["NextToken"] = answer["NextToken"]


def _fits(entry: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    resources = body.get("ResourceIds") or ([body["ResourceId"]] if body.get("ResourceId") else None)
    if resources is not None and entry.get("ResourceId") not in resources:
        return False
    if "NotScaledReasons" in entry and not body.get("IncludeNotScaledActivities"):
        return False
    same = ("ServiceNamespace", "ScalableDimension")
    return all(body.get(name) in {None, entry.get(name, body.get(name))} for name in same)
