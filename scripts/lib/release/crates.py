"""Crates that are part of the program."""

import json

PROGRAM = "quita"


class Crates:
    """Packages that are compiled into the program, macros included, with what each depends on.

    `cargo metadata` has the details, but of all members of the workspace with the features of their tests. `cargo tree`
    has what the program alone takes: `NAME vVERSION` on each line.
    """

    def __init__(self, metadata, tree):
        with open(metadata, encoding="utf-8") as file:
            metadata = json.load(file)
        with open(tree, encoding="utf-8") as file:
            named = {(name, version.removeprefix("v")) for name, version in (line.split()[:2] for line in file)}
        packages = [package for package in metadata["packages"] if (package["name"], package["version"]) in named]
        assert len(packages) == len(named), f"{len(named)} crates are named, {len(packages)} are known"
        packages.sort(key=lambda package: (package["name"], package["version"]))
        self.packages = {package["id"]: package for package in packages}
        self.program = next(package["id"] for package in packages if package["name"] == PROGRAM)
        self._nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}

    def dependencies(self, package):
        """Ids of what is compiled into a package: not of what its tests or its build script take."""
        return sorted(
            dependency["pkg"]
            for dependency in self._nodes[package]["deps"]
            if dependency["pkg"] in self.packages and any(kind["kind"] is None for kind in dependency["dep_kinds"])
        )

    def features(self, package):
        """Names of the features with which a package is compiled."""
        return self._nodes[package]["features"]
