"""Prints where the files of a release came from: an in-toto statement with SLSA provenance, version 1.

    provenance.py FACTS.json FILE…

FACTS.json: {"version", "commit", "lock", "tools": {NAME: VERSION}}. The statement has no time of its own, so that two
builds of one commit say the same.
Formats: https://in-toto.io/Statement/v1 and https://slsa.dev/provenance/v1.
"""

import hashlib
import json
import os
import sys


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def main(facts, *paths):
    with open(facts, encoding="utf-8") as file:
        facts = json.load(file)
    subjects = [{"name": os.path.basename(path), "digest": {"sha256": sha256(path)}} for path in paths]
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": sorted(subjects, key=lambda subject: subject["name"]),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:quita:release:1",
                "externalParameters": {"version": facts["version"]},
                "internalParameters": {"profile": "dist", "target": "x86_64-unknown-linux-gnu"},
                "resolvedDependencies": [
                    {"uri": "urn:quita:source", "digest": {"gitCommit": facts["commit"]}},
                    {"uri": "urn:quita:source#Cargo.lock", "digest": {"sha256": facts["lock"]}},
                ],
            },
            "runDetails": {"builder": {"id": "urn:quita:scripts/release", "version": facts["tools"]}},
        },
    }
    print(json.dumps(statement, indent=2, sort_keys=True))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
