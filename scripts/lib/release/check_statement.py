"""Checks the statement of a release: its form, its commit, and the sums of the files that it names.

    check_statement.py STATEMENT.json COMMIT DIRECTORY
"""

import hashlib
import json
import os
import sys

# Files that are made of the statement, or behind it.
BEHIND = (".intoto.json", ".intoto.json.sig", "SHA256SUMS", "quita-release.pub")


def main(path, commit, directory):
    with open(path, encoding="utf-8") as file:
        statement = json.load(file)
    assert statement["_type"] == "https://in-toto.io/Statement/v1", statement["_type"]
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1", statement["predicateType"]
    definition = statement["predicate"]["buildDefinition"]
    sources = [part["digest"].get("gitCommit") for part in definition["resolvedDependencies"]]
    assert commit in sources, f"made from {sources}, not from the commit that is checked out, {commit}"
    assert statement["predicate"]["runDetails"]["builder"]["id"], "no builder"
    said = {part["name"]: part["digest"]["sha256"] for part in statement["subject"]}
    found = {}
    for name in os.listdir(directory):
        if not name.endswith(BEHIND):
            with open(os.path.join(directory, name), "rb") as file:
                found[name] = hashlib.sha256(file.read()).hexdigest()
    assert said == found, f"the statement says {said}, there are {found}"


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
