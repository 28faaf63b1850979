"""Writes an OCI image as one archive, the same bytes for the same files.

    oci_archive.py ROOTS.json INTO.tar

ROOTS.json: {"name", "version", "revision", "epoch", "layers": [DIRECTORY…], "owned": {PATH: [UID, MODE]}}. Each
directory becomes one layer, whose files belong to root unless `owned` says otherwise. The archive is an OCI image
layout (https://github.com/opencontainers/image-spec, 1.0), with a `manifest.json` for `docker load`, which reads no
layout before version 25.
"""

import gzip
import hashlib
import io
import json
import os
import stat
import sys
import tarfile
from datetime import datetime, timezone

USER = "10001:10001"


def entries(directory):
    """Paths below a directory, each behind its parent, in one order on every machine."""
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        yield path
        if os.path.isdir(path) and not os.path.islink(path):
            yield from entries(path)


def layer(directory, owned, epoch):
    """The uncompressed tar of a layer."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in entries(directory):
            name = os.path.relpath(path, directory)
            state = os.lstat(path)
            entry = tarfile.TarInfo(name)
            entry.mtime, entry.mode = epoch, stat.S_IMODE(state.st_mode)
            if name in owned:
                entry.uid, entry.mode = owned[name][0], int(owned[name][1], 8)
                entry.gid = entry.uid
            if os.path.islink(path):
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, os.readlink(path), 0o777
                archive.addfile(entry)
            elif os.path.isdir(path):
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            else:
                entry.size = state.st_size
                with open(path, "rb") as file:
                    archive.addfile(entry, file)
    return buffer.getvalue()


class Layout:
    """Files of the archive, by their names."""

    def __init__(self):
        self.files = {}

    def blob(self, media_type, content):
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def write(self, path, epoch):
        with tarfile.open(path, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name in ("blobs", "blobs/sha256"):
                entry = tarfile.TarInfo(name)
                entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, epoch
                archive.addfile(entry)
            for name, content in sorted(self.files.items()):
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode, entry.mtime = len(content), 0o644, epoch
                archive.addfile(entry, io.BytesIO(content))


def as_json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def configuration(image, created, labels, layers):
    return {
        "architecture": "amd64",
        "os": "linux",
        "created": created,
        "config": {
            "User": USER,
            "Entrypoint": ["/usr/bin/quita"],
            "Cmd": ["serve"],
            "Env": [
                "PATH=/usr/bin",
                "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
                "QUITA_CONFIG=/etc/quita/quita.toml",
            ],
            "ExposedPorts": {"8080/tcp": {}, "9090/tcp": {}},
            "Volumes": {"/var/lib/quita": {}},
            "WorkingDir": "/var/lib/quita",
            "StopSignal": "SIGTERM",
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(tar).hexdigest()}" for tar in layers]},
        "history": [
            {"created": created, "created_by": "scripts/release", "comment": os.path.basename(directory)}
            for directory in image["layers"]
        ],
    }


def main(roots, into):
    with open(roots, encoding="utf-8") as file:
        image = json.load(file)
    epoch, tag = image["epoch"], f"{image['name']}:{image['version']}"
    created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {
        "org.opencontainers.image.title": image["name"],
        "org.opencontainers.image.description": "Payments in Brazil by PIX, boleto and credit card",
        "org.opencontainers.image.version": image["version"],
        "org.opencontainers.image.revision": image["revision"],
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
    }
    layout, kind = Layout(), "application/vnd.oci.image"
    layers = [layer(directory, image["owned"], epoch) for directory in image["layers"]]
    packed = [layout.blob(f"{kind}.layer.v1.tar+gzip", gzip.compress(tar, 9, mtime=0)) for tar in layers]
    config = layout.blob(f"{kind}.config.v1+json", as_json(configuration(image, created, labels, layers)))
    manifest = layout.blob(f"{kind}.manifest.v1+json", as_json({
        "schemaVersion": 2, "mediaType": f"{kind}.manifest.v1+json", "config": config, "layers": packed,
        "annotations": labels,
    }))
    manifest |= {
        "platform": {"architecture": "amd64", "os": "linux"},
        "annotations": {"org.opencontainers.image.ref.name": tag},
    }
    layout.files["oci-layout"] = as_json({"imageLayoutVersion": "1.0.0"})
    layout.files["index.json"] = as_json({
        "schemaVersion": 2, "mediaType": f"{kind}.index.v1+json", "manifests": [manifest],
    })
    layout.files["manifest.json"] = as_json([{
        "Config": f"blobs/sha256/{config['digest'][7:]}", "RepoTags": [tag],
        "Layers": [f"blobs/sha256/{blob['digest'][7:]}" for blob in packed],
    }])
    layout.write(into, epoch)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
