"""Derives from the Banco Central's document the file that validators can use. Each change is one erratum of it.

python errata.py DOCUMENT.yaml OUT.json     prints how many there were of each kind
"""

import json
import sys

import yaml

# What this version of the document is known to have; another count means another document.
KNOWN = {"pattern": 13, "location": 4, "strict": 49, "open": 3, "answers": 3}
found = dict.fromkeys(KNOWN, 0)


def walk(node, name=None):
    if isinstance(node, dict):
        pattern = node.get("pattern")
        if isinstance(pattern, str) and pattern.startswith("/^") and pattern.endswith("$/"):
            # A JavaScript literal, slashes and all: no CPF matches it.
            node["pattern"] = pattern[1:-1]
            found["pattern"] += 1
        elif isinstance(pattern, str) and not pattern.startswith("^"):
            # Not anchored: "1.000" or "-1.00" would pass.
            node["pattern"] = f"^(?:{pattern})$"
            found["strict"] += 1
        if name == "location" and node.get("format") == "uri":
            # It is host and path without a scheme.
            del node["format"]
            found["location"] += 1
        for key, value in node.items():
            walk(value, key)
    elif isinstance(node, list):
        for value in node:
            walk(value, name)


class Loader(yaml.SafeLoader):
    """Leaves instants as the text that they are."""


Loader.yaml_implicit_resolvers = {
    first: [known for known in resolvers if known[0] != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
with open(sys.argv[1], encoding="utf-8") as source:
    document = yaml.load(source, Loader)

for path in [path for path in document["paths"] if "AccessToken" in path]:
    # Served to payers, not to receivers; they hide /cobv/{txid} and /rec/{idRec}.
    del document["paths"][path]
    found["open"] += 1
for path in ("/cob", "/pix", "/webhook"):
    # The prose names CobConsultaInvalida, PixConsultaInvalida and WebhookConsultaInvalida, 400; the lists' answers do not.
    answers = document["paths"][path]["get"]["responses"]
    if "400" not in answers:
        problem = {"schema": {"$ref": "#/components/schemas/Problema"}}
        answers["400"] = {"description": "Consulta inválida.", "content": {"application/problem+json": problem}}
        found["answers"] += 1
walk(document)
with open(sys.argv[2], "w", encoding="utf-8") as out:
    json.dump(document, out, ensure_ascii=False)
print(found)
sys.exit(found != KNOWN)
