"""Checks a bill of materials by CycloneDX's own schema, and against what the program is made of.

    check_bill.py BILL.cdx.json CRATES.txt PROGRAM

CRATES.txt has `NAME vVERSION` on each line, as `cargo tree` prints them. PROGRAM names, where it may panic, the files of the
crates that are in it, with their versions.
"""

import json
import re
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

# `…/registry/src/INDEX/NAME-VERSION/src/…`
NAMED = re.compile(rb"/registry/src/[^/\0]+/([A-Za-z0-9_-]+?)-([0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*)/")


def in_program(program):
    with open(program, "rb") as file:
        return {(name.decode(), version.decode()) for name, version in NAMED.findall(file.read())}


def resolved(crates):
    with open(crates, encoding="utf-8") as file:
        return {(name, version.removeprefix("v")) for name, version in (line.split()[:2] for line in file)}


def main(bill, crates, program):
    with open(bill, encoding="utf-8") as file:
        text = file.read()
    error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
    assert error is None, f"not valid: {error}"
    document = json.loads(text)
    own = document["metadata"]["component"]
    parts = document["components"] + [own]
    cargo = {(part["name"], part["version"]) for part in parts if part.get("purl", "").startswith("pkg:cargo/")}
    wanted = resolved(crates)
    assert cargo == wanted, f"not in the bill: {sorted(wanted - cargo)}; in nothing but the bill: {sorted(cargo - wanted)}"
    named = in_program(program)
    assert len(named) > 50, f"the program names {len(named)} crates alone"
    assert named <= cargo, f"in the program, but not in the bill: {sorted(named - cargo)}"
    native = {part["name"]: part["version"] for part in parts if not part.get("purl", "").startswith("pkg:cargo/")}
    assert {"sqlite", "mimalloc", "libc6"} <= native.keys(), f"of what is not Rust it has {native}"
    references = {part["bom-ref"] for part in parts}
    for entry in document["dependencies"]:
        assert {entry["ref"], *entry.get("dependsOn", [])} <= references, entry
    assert "file://" not in text and "/root/" not in text, "it names paths of the machine"
    print(f"{len(cargo)} crates, {len(named)} of them named by the program; {native}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
