"""Small languages of key values, and whether two of them share a word."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Language", "overlap"]


class _Step(NamedTuple):
    """One character: one of `characters`, or with `is_negated` any but those."""

    characters: frozenset[str]
    is_negated: bool
    goal: int

    def meets(self, other: _Step) -> bool:
        """Whether some character fits both."""
        if self.is_negated and other.is_negated:
            return True
        if self.is_negated:
            return bool(other.characters - self.characters)
        if other.is_negated:
            return bool(self.characters - other.characters)
        return bool(self.characters & other.characters)


class Language:
    """A finite automaton that grows at its end: choices of words, runs of characters, at last any rest."""

    def __init__(self) -> None:
        self.steps: list[list[_Step]] = [[]]
        self.end = 0

    def _state(self) -> int:
        self.steps.append([])
        return len(self.steps) - 1

    def add_choice(self, words: tuple[str, ...]) -> None:
        """Append one of several words, none of them empty."""
        start, self.end = self.end, self._state()
        for word in words:
            state = start
            for character in word[:-1]:
                goal = self._state()
                self.steps[state].append(_Step(frozenset(character), False, goal))  # noqa: FBT003 - a named tuple
                state = goal
            self.steps[state].append(_Step(frozenset(word[-1]), False, self.end))  # noqa: FBT003

    def add_run(self, stop: str | None) -> None:
        """Append one or more characters, none of them `stop`."""
        start, self.end = self.end, self._state()
        without = frozenset(stop or "")
        self.steps[start].append(_Step(without, True, self.end))  # noqa: FBT003
        self.steps[self.end].append(_Step(without, True, self.end))  # noqa: FBT003

    def add_rest(self) -> None:
        """Let anything follow, or nothing."""
        self.steps[self.end].append(_Step(frozenset(), True, self.end))  # noqa: FBT003


def overlap(one: Language, two: Language) -> bool:
    """Whether a word belongs to both: a walk over the pairs of states."""
    seen = {(0, 0)}
    open_pairs = [(0, 0)]
    while open_pairs:
        left, right = open_pairs.pop()
        if left == one.end and right == two.end:
            return True
        for step in one.steps[left]:
            for other in two.steps[right]:
                pair = (step.goal, other.goal)
                if pair not in seen and step.meets(other):
                    seen.add(pair)
                    open_pairs.append(pair)
    return False
