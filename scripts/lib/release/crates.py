"""Crates that are part of the program, read from what `cargo metadata` prints."""

import json

PROGRAM = "quita"


class Crates:
    """Packages that are compiled into the program, macros included, with what each depends on."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            metadata = json.load(file)
        self._packages = {package["id"]: package for package in metadata["packages"]}
        self._nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        self.program = next(
            package["id"] for package in metadata["packages"] if package["name"] == PROGRAM and package["source"] is None
        )

    def dependencies(self, package):
        """Ids of what is compiled into a package: not of what its tests or its build script take."""
        return sorted(
            dependency["pkg"]
            for dependency in self._nodes[package]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        )

    def features(self, package):
        """Names of the features with which a package is compiled."""
        return self._nodes[package]["features"]

    def of_program(self):
        """Packages by id, the program's own among them."""
        found, waiting = {}, [self.program]
        while waiting:
            package = waiting.pop()
            if package not in found:
                found[package] = self._packages[package]
                waiting += self.dependencies(package)
        return dict(sorted(found.items(), key=lambda entry: (entry[1]["name"], entry[1]["version"])))
