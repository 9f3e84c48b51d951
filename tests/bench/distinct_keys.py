"""Many keys, each seen once: `python -m tests.bench.distinct_keys COUNT`; prints the peak memory in bytes."""

from __future__ import annotations

import resource
import sys

from analyzer.requests.digest import Digest
from analyzer.requests.lexicon import Lexicon, TableKeys

__all__ = ["main"]

_BLOCK = 1000
_A_SECOND = 2000
_START = 1_796_032_800


def main(count: int) -> None:
    """Digest so many records of as many keys, and forget what lies ten minutes back, as the daemon does."""
    digest = Digest(Lexicon([TableKeys(name="cases", partition_key=("PK",), sort_key=("SK",))]))
    for begin in range(0, count, _BLOCK):
        second = begin // _A_SECOND
        time = f"2026-11-30T{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
        digest.update(
            "".join(
                f'{{"v":1,"time":"{time}","op":"GetItem","table":"cases","consumed":{{"total":0.5}},'
                f'"key":{{"PK":{{"S":"CASE#{number:08}"}},"SK":{{"S":"META"}}}}}}\n'
                for number in range(begin, begin + _BLOCK)
            ).encode()
        )
        digest.forget_before((_START + second - 600) * 1000)
    assert digest.read.read == count
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))


if __name__ == "__main__":
    main(int(sys.argv[1]))
