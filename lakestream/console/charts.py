"""Small pictures as SVG, without styles of their own: the stylesheet colours them in light and dark."""

from collections.abc import Sequence

from markupsafe import Markup

_WIDTH, _HEIGHT = 240.0, 48.0
_POINTS_MAX = 360


def sparkline(values: Sequence[float], label: str) -> Markup:
    """A line over time, its greatest value at the top. `label` is what screen readers say."""
    shown = list(values)[-_POINTS_MAX:]
    top = max(shown, default=0.0) or 1.0
    step = _WIDTH / max(1, len(shown) - 1)
    points = [(number * step, _HEIGHT - 2 - (value / top) * (_HEIGHT - 4)) for number, value in enumerate(shown)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    area = f"0,{_HEIGHT:.0f} {line} {(len(shown) - 1) * step:.1f},{_HEIGHT:.0f}" if len(shown) > 1 else ""
    return Markup(
        '<svg class="spark" viewBox="0 0 240 48" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<polygon points="{}"/><polyline points="{}"/></svg>'
    ).format(label, area, line if len(shown) > 1 else "")


def bar(part: float, whole: float, label: str) -> Markup:
    """A bar that is filled by a share."""
    share = 0.0 if whole <= 0 else min(1.0, max(0.0, part / whole))
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="rail" width="100" height="8"/><rect class="fill" width="{}" height="8"/></svg>'
    ).format(label, f"{100 * share:.1f}")
