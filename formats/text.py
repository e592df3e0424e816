"""Where two texts part."""

from __future__ import annotations


def common_prefix(a: str, b: str) -> int:
    """How many characters two texts share from their start: the place of the first difference.

    By halving, so that the comparing is done on slices, at memory speed.
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
