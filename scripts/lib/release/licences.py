"""Prints the licences of the crates that are part of the program, each text once.

    licences.py METADATA.json TREE.txt

Both are what `cargo metadata` and `cargo tree` print, as crates.py reads them. A crate whose package holds no text of its
licence is listed with the licence's name alone.
"""

import os
import re
import sys

from crates import Crates

TEXT = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def texts(directory):
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if TEXT.match(name) and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                yield file.read().strip()


def main(metadata, tree):
    users, lines = {}, []
    for package in Crates(metadata, tree).packages.values():
        # The members of the workspace have no source: Quita's own licence is beside this file.
        if package["source"] is None:
            continue
        lines.append(f"{package['name']} {package['version']}: {package['license'] or 'see its text'}")
        for text in texts(os.path.dirname(package["manifest_path"])):
            users.setdefault(text, []).append(package["name"])
    print("The program contains these libraries of others, under the licences named here.\n")
    print("\n".join(lines))
    for text, names in users.items():
        print(f"\n{'=' * 100}\n{', '.join(names)}\n{'=' * 100}\n\n{text}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
