"""Prints the bill of materials of a release: CycloneDX 1.5, by the library of those who keep that format.

    bill_of_materials.py METADATA.json TREE.txt LOCK IMAGE_PACKAGES COMMIT EPOCH

The first two are what `cargo metadata` and `cargo tree` print, as crates.py reads them. LOCK is Cargo.lock, which has the
sum of each crate. IMAGE_PACKAGES has `NAME=VERSION` on each line: the Debian packages whose files the image holds. The
same arguments give the same bytes.
"""

import os
import re
import sys
import tomllib
from datetime import datetime, timezone
from uuid import NAMESPACE_URL, uuid5

from crates import Crates
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot5
from packageurl import PackageURL

# C code that crates carry, which advisories name by itself: where its version is written, and its CPE's vendor and name.
NATIVE = {
    "libsqlite3-sys": ("sqlite", "sqlite3/sqlite3.h", r'#define SQLITE_VERSION +"([0-9.]+)"', "sqlite:sqlite"),
    "libmimalloc-sys": (
        "mimalloc", "c_src/mimalloc/{series}/include/mimalloc.h", r"#define MI_MALLOC_VERSION (\d+)", "microsoft:mimalloc",
    ),
}


def checksums(lock):
    with open(lock, "rb") as file:
        return {(part["name"], part["version"]): part.get("checksum") for part in tomllib.load(file)["package"]}


def crate(package, checksum, licences):
    name, version = package["name"], package["version"]
    is_own = package["source"] is None
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        bom_ref=f"{name}@{version}",
        purl=PackageURL("cargo", name=name, version=version),
        description=package["description"],
        scope=ComponentScope.REQUIRED,
        licenses=[licences.make_from_string(package["license"].replace("/", " OR "))] if package["license"] else (),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)] if checksum else (),
        properties=[Property(name="quita:origin", value="workspace" if is_own else "registry")],
    )


def native(package, features):
    """The C code within a crate."""
    if package["name"] not in NATIVE:
        return []
    name, header, pattern, vendor = NATIVE[package["name"]]
    # The crate of mimalloc carries two, and builds the newer one unless asked otherwise.
    header = header.format(series="v2" if "v2" in features else "v3")
    with open(os.path.join(os.path.dirname(package["manifest_path"]), header), encoding="utf-8") as file:
        version = written(re.search(pattern, file.read())[1])
    return [
        Component(
            type=ComponentType.LIBRARY, name=name, version=version, bom_ref=f"{name}@{version}",
            purl=PackageURL("generic", name=name, version=version),
            cpe=f"cpe:2.3:a:{vendor}:{version}:*:*:*:*:*:*:*", scope=ComponentScope.REQUIRED,
            properties=[Property(name="quita:origin", value=f"C code in {package['name']}")],
        )
    ]


def written(version):
    """A version as its people write it: the header of mimalloc 3.3.2 has 30302."""
    if "." in version:
        return version
    number = int(version)
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def of_image(line):
    name, version = line.strip().split("=", 1)
    return Component(
        type=ComponentType.LIBRARY, name=name, version=version, bom_ref=f"debian:{name}@{version}",
        purl=PackageURL("deb", namespace="debian", name=name, version=version, qualifiers={"arch": "amd64"}),
        scope=ComponentScope.REQUIRED, properties=[Property(name="quita:origin", value="in the image alone")],
    )


def main(metadata, tree, lock, image_packages, commit, epoch):
    crates, sums, licences = Crates(metadata, tree), checksums(lock), LicenseFactory()
    packages = crates.packages
    parts = {key: crate(package, sums.get((package["name"], package["version"])), licences)
             for key, package in packages.items()}
    program = parts[crates.program]
    program.type = ComponentType.APPLICATION
    program.properties.add(Property(name="quita:commit", value=commit))
    bill = Bom(serial_number=uuid5(NAMESPACE_URL, f"urn:quita:{program.version}:{commit}"))
    bill.metadata.timestamp = datetime.fromtimestamp(int(epoch), timezone.utc)
    bill.metadata.component = program
    for key, part in parts.items():
        within = native(packages[key], crates.features(key))
        for component in [part] * (part is not program) + within:
            bill.components.add(component)
        bill.register_dependency(part, [*(parts[other] for other in crates.dependencies(key)), *within])
    with open(image_packages, encoding="utf-8") as file:
        for component in map(of_image, file):
            bill.components.add(component)
    print(JsonV1Dot5(bill).output_as_string(indent=2))


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    main(*sys.argv[1:])
