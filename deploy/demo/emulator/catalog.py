"""What moto drops from the description of a table, and what a test says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deploy.demo.emulator.minutes import Place
    from deploy.demo.emulator.overlay import Call

__all__ = ["Catalog"]

Body = dict[str, Any]

_INDEXES = "GlobalSecondaryIndexes"
_ON_DEMAND = "OnDemandThroughput"


class Catalog:
    """Keeps on-demand maxima, which moto forgets, and patches."""

    def __init__(self) -> None:
        self._maxima: dict[tuple[Place, str, str | None], Body] = {}
        self._patches: dict[tuple[Place, str], Body] = {}

    def complete(self, call: Call, described: Body) -> None:
        """Learn from what a call asked for, and add what moto does not tell."""
        table = described["TableName"]
        if call.operation in {"CreateTable", "UpdateTable"}:
            self._learn(call, table)
        indexes = described.get(_INDEXES) or ()
        for name, holder in ((None, described), *((index["IndexName"], index) for index in indexes)):
            most = self._maxima.get((call.place, table, name))
            if most is not None:
                holder[_ON_DEMAND] = dict(most)

    def _learn(self, call: Call, table: str) -> None:
        updates = (update.get("Update") or update.get("Create") or {} for update in call.body.get(_UPDATES) or ())
        for index in (*(call.body.get(_INDEXES) or ()), *updates):
            if _ON_DEMAND in index:
                self._maxima[call.place, table, index["IndexName"]] = index[_ON_DEMAND]
        if _ON_DEMAND in call.body:
            self._maxima[call.place, table, None] = call.body[_ON_DEMAND]

    def say(self, place: Place, table: str, patch: Body) -> None:
        """Describe a table as a patch has it from now on; indexes are patched by name."""
        self._patches[place, table] = {**self._patches.get((place, table), {}), **patch}

    def patch(self, place: Place, described: Body) -> None:
        """Apply what was said of a table."""
        patch = self._patches.get((place, described["TableName"]))
        if patch is None:
            return
        described.update({name: value for name, value in patch.items() if name != _INDEXES})
        by_name = {index["IndexName"]: index for index in patch.get(_INDEXES) or ()}
        for index in described.get(_INDEXES) or ():
            index.update(by_name.get(index["IndexName"], {}))

    def clear(self) -> None:
        """Forget everything."""
        self._maxima.clear()
        self._patches.clear()


_UPDATES = "GlobalSecondaryIndexUpdates"
