"""Prints the queries of a Grafana dashboard as a file of recording rules, so that promtool can read them."""

import json
import sys

# What Grafana puts in, by something that may stand in its place.
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}


def queries(node):
    """Every query below a node of the dashboard."""
    if isinstance(node, dict):
        if isinstance(node.get("expr"), str):
            yield node["expr"]
        node = node.values()
    elif not isinstance(node, list):
        return
    for child in node:
        yield from queries(child)


def main(path):
    with open(path, encoding="utf-8") as file:
        found = list(queries(json.load(file)))
    if not found:
        sys.exit(f"{path}: no queries")
    rules = []
    for number, query in enumerate(found):
        for variable, value in VARIABLES.items():
            query = query.replace(variable, value)
        if "$" in query:
            sys.exit(f"{path}: a variable that scripts/lib/dashboard_rules.py does not know: {query}")
        rules.append({"record": f"dashboard:query:{number}", "expr": query})
    # What is JSON is YAML.
    print(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}, indent=1))


main(sys.argv[1])
