"""The colours of the report, light and dark, as CSS variables and as the configuration of its charts."""

from __future__ import annotations

from typing import Any

LIGHT = {
    "ground": "#fbfaf7",
    "panel": "#ffffff",
    "ink": "#22262e",
    "muted": "#626a76",
    "grid": "#e4e2dc",
    "accent": "#2b6a94",
    "accent-rgb": "43 106 148",
    "warm": "#c2571f",
    "warm-rgb": "194 87 31",
    "good": "#2f7d4f",
    "on-accent": "#ffffff",
    "focus": "#1a73c4",
}
DARK = {
    "ground": "#14171b",
    "panel": "#1c2026",
    "ink": "#e7e5e0",
    "muted": "#9aa3af",
    "grid": "#343a43",
    "accent": "#7db8dd",
    "accent-rgb": "125 184 221",
    "warm": "#f0a070",
    "warm-rgb": "240 160 112",
    "good": "#7fcf9d",
    "on-accent": "#10151b",
    "focus": "#9ccbff",
}

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"

_TEXT = {"labelColor": "var(--muted)", "titleColor": "var(--muted)", "labelFontSize": 12, "titleFontSize": 12}

CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        **_TEXT,
        "titleFontWeight": "normal",
        "titlePadding": 12,
        "labelPadding": 6,
        "gridColor": "var(--grid)",
        "domainColor": "var(--grid)",
        "tickColor": "var(--grid)",
        "labelFlush": False,
        "labelOverlap": "greedy",
        "labelSeparation": 8,
        "aria": False,
    },
    "axisNominal": {"grid": False},
    "title": {"color": "var(--ink)", "fontSize": 15, "fontWeight": 600, "anchor": "start", "offset": 12},
}
"""Of every chart; colours stay variables, so that one drawing serves both themes."""


def variables(colours: dict[str, str]) -> str:
    """CSS declarations.

    >>> variables({"ink": "#000"})
    '--ink: #000;'
    """
    return " ".join(f"--{name}: {value};" for name, value in colours.items())
