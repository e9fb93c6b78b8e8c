"""How much memory this process may use: the machine's, or less where a container limits it."""

from __future__ import annotations

import math
import os
from pathlib import Path

GROUPS, MOUNT = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def memory_bytes() -> float:
    """Return the bytes of memory this process can have, infinity where that is not known.

    Examples
    --------
    >>> memory_bytes() > 1e6
    True
    """
    return min(_physical(), container_limit())


def container_limit(groups: Path = GROUPS, mount: Path = MOUNT) -> float:
    """Return the smallest memory limit of the control groups this process is in, v1 or v2.

    Parameters
    ----------
    groups
        The list of control groups, one ``number:controllers:path`` per line.
    mount
        Where their files are mounted.
    """
    try:
        lines = groups.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return math.inf
    limits = [math.inf]
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            folder, name = mount, "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = mount / "memory", "memory.limit_in_bytes"
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        # A group is limited by those above it. In a container the path may be the host's: then
        # only the root is there, and it is the container's own.
        for depth in range(len(parts) + 1):
            limits.append(_number(folder.joinpath(*parts[:depth], name)))
    return min(limits)


def _number(path: Path) -> float:
    try:
        return float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # not there, or "max"
        return math.inf


def _physical() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf
