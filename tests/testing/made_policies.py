"""Policies made of kernels and attributes, right or wrong."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import LinearPolicy, Policy


def policy(**parts):
    """Return a policy made of kernels and attributes."""
    kernels = {k: staticmethod(v) if callable(v) and k != "table" else v for k, v in parts.items()}
    content = {"table": lambda self, setting: np.zeros((setting.arms, 1))} | kernels
    content |= {"kind": "wrong", "__annotations__": {"kind": ClassVar[str]}}
    return dataclass(frozen=True)(type("Wrong", (Policy,), content))()


def linear_policy(base=LinearPolicy, /, **parts):
    """Return a linear policy made of kernels and attributes."""
    kernels = {k: staticmethod(v) if callable(v) and k != "table" else v for k, v in parts.items()}
    content = {"table": lambda self, setting: np.zeros(1)} | kernels
    content |= {"kind": "wrong", "__annotations__": {"kind": ClassVar[str]}}
    return dataclass(frozen=True)(type("Wrong", (base,), content))()
