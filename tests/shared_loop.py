"""A loop with shared and inlined functions, for this process and others to compile."""

from halfseen.kernels.compile_hints import inline, shared


class Kernels:
    """Kernels as a policy has them."""

    def __init__(self, weigh):
        self.weigh = weigh

    def names(self):
        return {"weigh": self.weigh}


def double(x):
    return 2.0 * x


def triple(x):
    return 3.0 * x


def weigh(x):
    return x


@inline
def small(x):
    return x + deepest(x)


def deepest(x):
    return 0.5 * x


@shared
def total(values):
    """Sum, as coarse work."""
    found = 0.0
    for k in range(values.size):
        found += small(values[k])
    return found


@shared
def extremes(values, scale):
    return scale * values.min(), scale * total(values)


@shared
def fill(values, value):
    for k in range(values.size):
        values[k] = value


def loop(values):
    fill(values, 4.0)
    values[0] = 2.0
    low, high = extremes(values, 10)
    return weigh(total(values)) + small(low) + high


EXPECTED = {double: 2.0 * 21.0 + 30.0 + 210.0, triple: 3.0 * 21.0 + 30.0 + 210.0}
