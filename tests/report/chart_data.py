"""What a chart draws, as rows."""


def rows(chart):
    """Return all rows of a chart that Vega-Lite's schema accepts, data of several layers once."""
    blocks = []
    for values in _values(chart.to_dict(validate=True)):
        if values not in blocks:
            blocks.append(values)
    return [row for values in blocks for row in values]


def rows_with(chart, *fields):
    """Return the rows that have all the fields."""
    return [row for row in rows(chart) if all(field in row for field in fields)]


def _values(spec):
    if isinstance(spec, dict):
        if isinstance(spec.get("data"), dict) and "values" in spec["data"]:
            yield spec["data"]["values"]
        for part in spec.values():
            yield from _values(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from _values(part)
