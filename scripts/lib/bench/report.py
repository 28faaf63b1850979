"""What is printed and written: tables of the figures, of the cells, of the machine."""

import os

from bench import FLOOR, OTHER, PLAIN, STORES, THIS, TUNED
from cells import ORDER, OPEN_TOLD, TOLD
from figures import Spread

QUITAS = [name + build for name, _ in STORES for build in (OTHER, THIS)]
SERVICES = [FLOOR, PLAIN, TUNED, *QUITAS]
PROCESSES = ["service", "mongod", "generator", "receiver"]
# What MongoDB did for one payment.
STORED = ["documents written", "oplog bytes", "index moves"]


def number(value, unit=""):
    """Three digits, as far as they say anything."""
    if value >= 100:
        return f"{value:,.0f}{unit}"
    return f"{value:.{1 if value >= 10 else 2}f}{unit}"


def with_spread(spread, unit=""):
    if spread is None:
        return "–"
    return f"{number(spread.median, unit)} ({number(spread.least)}–{number(spread.greatest)})"


def median(measurements, value):
    values = [value(one) for one in measurements]
    values = [found for found in values if found is not None]
    return number(Spread(values).median) if values else "–"


def table(head, rows):
    """As Markdown that also reads well in a terminal: the first column left, the others right."""
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]

    def line(row):
        cells = [cell.rjust(width) if place else cell.ljust(width) for place, (cell, width) in enumerate(zip(row, widths))]
        return "| " + " | ".join(cells) + " |"

    rule = "|" + "|".join(
        "-" * (width + 2) if not place else "-" * (width + 1) + ":" for place, width in enumerate(widths)
    ) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def figures_table(figures):
    head, rows = ["what", "median (least–greatest)", "reach", "aim", "reached"], []
    has_other = any(one.beside for one in figures)
    for one in figures:
        reach, aim = (number(bound, one.unit) if bound is not None else "–" for bound in (one.reach, one.aim))
        other = [with_spread(one.beside, one.unit)] if has_other else []
        rows.append([one.name, *other, with_spread(one.spread, one.unit), reach, aim, one.verdict()])
    return table([head[0], *(["the other build"] if has_other else []), *head[1:]], rows)


def cells_table(measured):
    head = ["what", "a second: median (least–greatest)", "p50 ms", "p99 ms"]
    head += [f"{name} µs" for name in PROCESSES] + ["busy"]
    rows = []
    for cell in ORDER:
        for service in SERVICES:
            found = measured.of(cell, service)
            if found:
                rows.append(cell_row(cell, service, found))
    return table(head, rows)


def cell_row(cell, service, found):
    quantile = lambda name: lambda one: (one["create_us"] or one["read_us"])[name] / 1000
    row = [f"{cell}: {service}", with_spread(Spread(one["rate"] for one in found))]
    row += [median(found, quantile("p50")), median(found, quantile("p99"))]
    for name in PROCESSES:
        used = median(found, lambda one: one["cpu_us"].get(name))
        row.append(used if name != "receiver" or cell in (TOLD, OPEN_TOLD) else "–")
    return row + [f"{Spread(one['busy'] for one in found).median:.0%}"]


def stored(found):
    """A text for each of `STORED`, for one payment."""
    of = lambda what: lambda one: one["stored"] and one["stored"][what]
    return [median(found, of(what)) for what in ("documents", "oplog_bytes", "index_moves")]


def events_table(measured):
    head = ["what", "payments", "events", "repeats", "lag p50 ms", "lag p99 ms", *STORED]
    rows = []
    for cell in (TOLD, OPEN_TOLD):
        for service in QUITAS:
            found = measured.of(cell, service)
            if not found:
                continue
            lag = lambda name: lambda one: one["events"]["lag_us"] and one["events"]["lag_us"][name] / 1000
            total = lambda value: f"{sum(map(value, found)):,}"
            rows.append([
                f"{cell}: {service}", total(lambda one: one["created"]), total(lambda one: one["events"]["distinct"]),
                total(lambda one: one["events"]["repeats"]), median(found, lag("p50")), median(found, lag("p99")),
                *stored(found),
            ])
    return table(head, rows) if rows else ""


def machine_lines(machine, before, after):
    load = ", ".join(f"{value:.2f}" for value in before["load"]["loadavg"])
    syncs = [f"{one['fdatasync']['median_ms']:.2f} ms (p99 {one['fdatasync']['p99_ms']:.2f} ms)" for one in (before, after)]
    return (
        f"{machine['date']}; {machine['cpu']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"Linux {machine['kernel']}, MongoDB {machine['mongod']} (one member); profile {machine['profile']}.\nBefore: load {load}, {before['load']['busy']:.0%} busy. "
        f"`fdatasync` of 4 KiB: {syncs[0]} before, {syncs[1]} after."
    )


def rounds(count, seconds):
    return f"{count} {'round' if count == 1 else 'rounds'} of {seconds:g} s."


def replace_between(path, marker, text):
    """Puts text between `<!-- MARKER: begin -->` and `<!-- MARKER: end -->`."""
    with open(path, encoding="utf-8") as file:
        document = file.read()
    begin, end = f"<!-- {marker}: begin -->", f"<!-- {marker}: end -->"
    before, found_begin, rest = document.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise SystemExit(f"{os.path.basename(path)} lacks the markers {begin} and {end}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n\n{text}\n\n{end}{after}")
