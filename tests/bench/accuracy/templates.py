"""How right the templates are that `infer` learns, on traffic of single-table designs.

FGA and FTA as in Loghub-2.0 (arXiv 2308.10828): a group is all key values of one template. A group is found when a
learnt one holds exactly its values; its template is right when the text is, too, whatever variables are called.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from analyzer.contract.seen import template_text
from analyzer.contract.templates_samples import KeySamples
from analyzer.model.request import RequestRecord
from analyzer.requests.lexicon import Lexicon
from tests.support.eight_designs import KEPT_BACK, TUNING
from tests.support.single_tables import Design, normal, requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Score", "judge_templates", "score"]

_SIZES = (300, 3_000)
_MOST_SEEDS = 5
"""Other seeds draw other values of the same designs: they say little more."""

_LEAST_FGA = 0.95
_LEAST_FTA = 0.9


class Score(NamedTuple):
    """Shares, 0 to 1: of values in right groups and under right templates, and F1 of groups and of templates."""

    ga: float
    fga: float
    pa: float
    fta: float


def score(design: Design, number: int, seed: int = 1) -> Score:
    """Learn from so many requests of a design, and compare each key value's template with the one it was made from."""
    drawn = list(requests(design, number, seed))
    samples = KeySamples()
    for one in drawn:
        samples.add(msgspec.convert(one.record, RequestRecord))
    lexicon = Lexicon(samples.tables())
    pairs = []
    for line in (line for one in drawn for line in one.lines):
        predicate = lexicon.classify(design.name, line.attribute, line.operator, line.values)
        pairs.append((f"{line.attribute} {line.truth}", f"{line.attribute} {normal(template_text(predicate))}"))
    return _compared(pairs)


def _compared(pairs: Sequence[tuple[str, str]]) -> Score:
    together = Counter(pairs)
    true, found = Counter(truth for truth, _ in pairs), Counter(text for _, text in pairs)
    grouped = [pair for pair, lines in together.items() if lines == true[pair[0]] == found[pair[1]]]
    right = [pair for pair in grouped if pair[0] == pair[1]]
    return Score(
        ga=sum(together[pair] for pair in grouped) / len(pairs),
        fga=2 * len(grouped) / (len(true) + len(found)),
        pa=sum(lines for pair, lines in together.items() if pair[0] == pair[1]) / len(pairs),
        fta=2 * len(right) / (len(true) + len(found)),
    )


def judge_templates(seeds: Iterable[int]) -> Iterator[str]:
    """Print a row a design, and yield what misses its figure: the mean of those kept back, at each size."""
    listed = list(seeds)[:_MOST_SEEDS]
    print(f"{f'templates, {len(listed)} draws':22} {'keys':>6} {'GA':>6} {'FGA':>6} {'PA':>6} {'FTA':>6}")
    for number in _SIZES:
        for designs, name in ((TUNING, "tuned by"), (KEPT_BACK, "kept back")):
            means = [_mean([score(design, number, seed) for seed in listed]) for design in designs]
            for design, mean in zip(designs, means, strict=True):
                _print(design.name, number, mean)
            whole = _mean(means)
            _print(f"all {name}", number, whole)
            if designs is KEPT_BACK and (whole.fga < _LEAST_FGA or whole.fta < _LEAST_FTA):
                yield f"templates of {number} requests: FGA {whole.fga:.3f}, FTA {whole.fta:.3f} on designs kept back"


def _mean(scores: Sequence[Score]) -> Score:
    return Score(*(sum(column) / len(scores) for column in zip(*scores, strict=True)))


def _print(name: str, number: int, mean: Score) -> None:
    print(f"  {name:20} {number:6} {mean.ga:6.3f} {mean.fga:6.3f} {mean.pa:6.3f} {mean.fta:6.3f}", flush=True)
