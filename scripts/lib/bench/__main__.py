"""Runs the benchmark. To be started by `scripts/bench`, which says what the options mean."""

import argparse
import json
import os
import signal
import sys

import acquirers
import hanging
import instructions
import lives
import machine
import nodes
import plots
import replay
import report
from acquirers import Acquirers
from bench import OTHER, Bench
from cells import Rounds
from figures import Measured, beside, long_figures, main_figures
from hanging import Hanging
from instructions import Instructions
from lives import Lives
from long_runs import Growth, Memory
from nodes import Nodes
from verify import check_everything

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DOCUMENT = os.path.join(ROOT, "docs", "PERFORMANCE.md")
PLOTS = os.path.join(ROOT, "docs", "performance")
CAMPAIGNS = os.path.join(ROOT, "docs", "campaigns")
MOST_NODES = 3


def options_of(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", required=True)
    parser.add_argument("--directory", required=True)
    parser.add_argument("--quita", required=True)
    parser.add_argument("--profile", required=True)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--told", type=int)
    parser.add_argument("--lives", type=int, default=0)
    parser.add_argument("--growth", type=int, default=0)
    parser.add_argument("--memory", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=0)
    parser.add_argument("--hanging", type=int, default=0)
    parser.add_argument("--acquirers", type=int, default=0)
    parser.add_argument("--replay", type=int, default=0)
    parser.add_argument("--instructions", type=int, default=0)
    parser.add_argument("--beside")
    parser.add_argument("--json")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args(arguments)


def state(bench):
    return {"load": machine.load(), "fdatasync": machine.fdatasync(bench.directory)}


def run(bench, options):
    """Everything that was asked for; what the long runs found."""
    results = {}
    bench.start(bench.receiver)
    if options.rounds:
        Rounds(bench).run()
        check_everything(bench)
        for service in list(bench.ids):
            bench.discard(service)
    if options.lives:
        Lives(bench, options.lives).run(results)
    if options.growth:
        Growth(bench, options.growth).run(results)
    if options.memory:
        Memory(bench, options.memory).run(results)
    if options.nodes:
        Nodes(bench, MOST_NODES, options.nodes).run(results)
    if options.hanging:
        Hanging(bench, options.hanging).run(results)
    if options.acquirers:
        Acquirers(bench, options.acquirers).run()
    if options.replay:
        replay.Replays(bench, options.replay).run(results)
    if options.instructions:
        Instructions(bench, options.instructions).run(results)
    return results


def tables(bench, options, results, about):
    """{marker in the document: text}"""
    texts, measured = {}, Measured(bench.measurements)
    if options.rounds:
        texts["measured"] = [
            f"{about} {report.rounds(options.rounds, options.seconds)}",
            report.figures_table(beside(main_figures(measured), main_figures(measured, OTHER))),
        ]
    if options.lives:
        texts["measured, lives"] = [about, report.table(lives.HEAD, lives.table_rows(results))]
    if options.growth or options.memory:
        texts["measured, long"] = [about, report.figures_table(beside(long_figures(results), long_figures(results, OTHER)))]
    if options.nodes:
        others = nodes.figures(results, MOST_NODES, OTHER) if options.beside else []
        texts["measured, nodes"] = [
            f"{about} {report.rounds(nodes.ROUNDS, nodes.SECONDS)}",
            report.table(nodes.HEAD, nodes.table_rows(results)),
            report.figures_table(beside(nodes.figures(results, MOST_NODES), others)),
        ]
    if options.hanging:
        texts["measured, hanging"] = [about, report.table(hanging.HEAD, hanging.table_rows(results))]
    if options.acquirers:
        texts["measured, acquirers"] = [
            f"{about} {report.rounds(options.acquirers, options.seconds)}",
            report.figures_table(acquirers.figures(measured)), acquirers.table(measured),
        ]
    if options.replay:
        texts["measured, replay"] = [about, report.table(replay.HEAD, replay.table_rows(results))]
    if options.instructions:
        texts["measured, instructions"] = [about, report.table(instructions.HEAD, instructions.table_rows(results))]
    return texts, measured


def write_campaign(date, texts, measured):
    """Writes a page with every cell of this run."""
    parts = ["# " + date + ": every cell", *texts["measured"], report.cells_table(measured), report.events_table(measured)]
    with open(os.path.join(CAMPAIGNS, f"{date}-bench.md"), "w", encoding="utf-8") as file:
        file.write("\n\n".join(part for part in parts if part) + "\n")


def main(arguments):
    options = options_of(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))
    bench = Bench(options)
    try:
        description = {**machine.description(bench.mongod_host()), "profile": bench.profile}
        before = state(bench)
        if before["load"]["busy"] > machine.QUIET_SHARE:
            bench.warnings.append(f"the machine was {before['load']['busy']:.0%} busy before anything was started")
        results = run(bench, options)
        bench.stop_all()
        after = state(bench)
    finally:
        bench.stop_all()
    about = report.machine_lines(description, before, after)
    texts, measured = tables(bench, options, results, about)
    for parts in texts.values():
        print("\n\n".join(part for part in parts if part) + "\n")
    if options.rounds:
        print(report.cells_table(measured), report.events_table(measured), sep="\n\n", end="\n\n")
    for warning in bench.warnings:
        print(f"mind: {warning}", file=sys.stderr)
    for failure in bench.failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    if options.json:
        save(options.json, bench, results, description, before, after)
    if bench.failures:
        sys.exit("something that was answered with 201 is missing, or an event of it: nothing is written")
    print("Every payment that was answered with 201 is in the store, and every event arrived.")
    if options.write:
        for marker, parts in texts.items():
            path = os.path.join(ROOT, nodes.DOCUMENT) if marker == "measured, nodes" else DOCUMENT
            report.replace_between(path, marker, "\n\n".join(part for part in parts if part))
        if options.rounds:
            plots.draw(PLOTS, measured)
            write_campaign(description["date"], texts, measured)


def save(path, bench, results, description, before, after):
    measurements = [{name: value for name, value in one.items() if name != "ids"} for one in bench.measurements]
    found = {f"{kind}, {service}": values for (kind, service), values in results.items()}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(
            {"machine": description, "before": before, "after": after, "rounds": measurements, "long": found,
             "warnings": bench.warnings, "failures": bench.failures},
            file, indent=1, ensure_ascii=False,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
