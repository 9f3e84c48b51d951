"""How far two mixes are apart: the population stability index and the Jensen–Shannon divergence, with their null.

PSI = Σ (q - p) ln (q ÷ p), with half a count added everywhere; under no change PSI is about (1/n + 1/m) χ² with one
degree of freedom less than there are members, and the divergence in nats an eighth of it (Yurdakul and Naranjo, 2020).
"""

from __future__ import annotations

import numpy as np

__all__ = ["divergence_bits", "stability_index", "stability_terms"]

_HALF = 0.5


def stability_terms(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Return what each member adds to the population stability index of two mixes, given as counts."""
    p, q = _shares(before), _shares(now)
    return np.asarray((q - p) * np.log(q / p))


def stability_index(before: np.ndarray, now: np.ndarray) -> float:
    """Return the population stability index; 0 where there is no mix to speak of."""
    return float(stability_terms(before, now).sum()) if len(before) > 1 else 0.0


def divergence_bits(before: np.ndarray, now: np.ndarray) -> float:
    """Return the Jensen–Shannon divergence in bits: 0 where the mixes are one, 1 where they share nothing."""
    if not before.sum() or not now.sum():
        return 0.0
    p, q = before / before.sum(), now / now.sum()
    return max(0.0, _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2)


def _shares(counts: np.ndarray) -> np.ndarray:
    smoothed = counts + _HALF
    return np.asarray(smoothed / smoothed.sum())


def _entropy(shares: np.ndarray) -> float:
    known = shares[shares > 0]
    return float(-(known * np.log2(known)).sum())
