"""Bars with their spread, as SVG that reads on light and on dark paper."""

import html
import os

from bench import EMBEDDED, FLOOR, MONGODB, PLAIN, TUNED
from cells import CARD, CREATE_64, CREATE_256, GET_OLD, GET_RECENT, MIXED, TOLD
from figures import Spread
from report import number

LABELS, BARS, VALUES, LINE, MARGIN = 250, 430, 150, 22, 12
COLOURS = {FLOOR: "#9aa0a6", PLAIN: "#c98a2b", TUNED: "#d9ab66", MONGODB: "#2f9e5b", EMBEDDED: "#3b82c4"}
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#57606a}.title{font-weight:600}.axis,.whisker{stroke:#57606a}"
    "@media(prefers-color-scheme:dark){text{fill:#adbac7}.axis,.whisker{stroke:#adbac7}}"
)


def draw(directory, measured):
    os.makedirs(directory, exist_ok=True)
    rates = lambda one: one["rate"]
    everybody = [FLOOR, PLAIN, TUNED, MONGODB, EMBEDDED]
    for name, title, cells, services in (
        ("create", "Payments created a second", [CREATE_64, CREATE_256], everybody),
        ("read", "Payments read a second", [GET_RECENT, GET_OLD], everybody),
        ("whole", "Cards, mixed requests, payments with both events confirmed, a second", [CARD, MIXED, TOLD],
         [MONGODB, EMBEDDED]),
    ):
        bars(os.path.join(directory, f"{name}.svg"), title, groups(measured, cells, services, rates))
    cost = lambda one: one["cpu_us"]["service"] + one["cpu_us"].get("mongod", 0)
    cells = [CREATE_64, GET_RECENT]
    title = "Processor time of a request, service and mongod, µs"
    bars(os.path.join(directory, "cost.svg"), title, groups(measured, cells, everybody, cost))


def groups(measured, cells, services, value):
    found = [(cell, [(name, measured.spread(cell, name, value)) for name in services]) for cell in cells]
    return [(cell, [(name, spread) for name, spread in rows if spread]) for cell, rows in found]


def bars(path, title, found):
    rows = [spread for _, rows in found for _, spread in rows]
    if not rows:
        return
    scale = BARS / max(spread.greatest for spread in rows)
    parts, y = [text(MARGIN, 20, title, "title")], 34
    for group, rows in found:
        y += LINE
        parts.append(text(MARGIN, y - 6, group))
        for name, spread in rows:
            parts.append(bar(y, name, spread, scale))
            y += LINE
        y += 6
    axis = f'<line class="axis" x1="{LABELS}" x2="{LABELS}" y1="40" y2="{y}"/>'
    width, height = LABELS + BARS + VALUES, y + MARGIN
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{html.escape(title)}"><style>{STYLE}</style>\n'
            + "\n".join([*parts, axis]) + "\n</svg>\n"
        )


def bar(y, name, spread, scale):
    """The median as a bar, least and greatest as a whisker, and the median in words."""
    least, middle, greatest = (LABELS + value * scale for value in (spread.least, spread.median, spread.greatest))
    centre = y + LINE / 2 - 1
    whisker = (
        f"M{least:.1f} {centre - 4}v8M{least:.1f} {centre}H{greatest:.1f}M{greatest:.1f} {centre - 4}v8"
    )
    return (
        text(LABELS - 8, y + 15, name, "", "end")
        + f'<rect x="{LABELS}" y="{y + 2}" width="{middle - LABELS:.1f}" height="{LINE - 6}" fill="{COLOURS[name]}"/>'
        + f'<path class="whisker" fill="none" d="{whisker}"/>'
        + text(max(greatest, middle) + 8, y + 15, number(spread.median))
    )


def text(x, y, words, kind="", anchor="start"):
    kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}"{kind}>{html.escape(words)}</text>'
