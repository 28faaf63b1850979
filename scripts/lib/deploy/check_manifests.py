"""Checks what the schemas of Kubernetes and Compose cannot: that files fit each other and the program.

    check_manifests.py VERSION COMPOSE.yaml MANIFEST.yaml…

The image has the program's version; Services and probes name ports that there are; selectors find the pods; nothing
runs as root or may write to its root; every secret of Compose is made by `make_secrets`.
"""

import os
import re
import sys

import yaml


def documents(path):
    with open(path, encoding="utf-8") as file:
        return [document for document in yaml.safe_load_all(file) if document]


def check_pod(where, template, image):
    pod = template["spec"]
    security = pod["securityContext"]
    assert security["runAsNonRoot"] is True and security["runAsUser"] == 10001, f"{where}: runs as root"
    assert pod["terminationGracePeriodSeconds"] >= 60, f"{where}: is killed before its work is stored"
    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in pod["containers"]:
        assert container["image"] == image, f"{where}: {container['image']} is not {image}"
        assert container["securityContext"]["readOnlyRootFilesystem"] is True, f"{where}: can write to its root"
        assert container["resources"]["limits"]["memory"], f"{where}: no bound for memory"
        ports = {port["name"] for port in container["ports"]}
        for probe, path in (("startupProbe", "live"), ("livenessProbe", "live"), ("readinessProbe", "ready")):
            asked = container[probe]["httpGet"]
            assert asked["port"] in ports and asked["path"] == f"/health/{path}", f"{where}: {probe} asks {asked}"
        yield ports, volumes, {mount["name"] for mount in container["volumeMounts"]}


def check_manifests(path, image):
    found = documents(path)
    workloads = [document for document in found if document["kind"] in ("Deployment", "StatefulSet")]
    assert len(workloads) == 1, f"{path}: {len(workloads)} workloads"
    spec = workloads[0]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels, f"{path}: the selector does not find its pods"
    claims = {claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", [])}
    for ports, volumes, mounts in check_pod(path, spec["template"], image):
        assert mounts <= volumes | claims, f"{path}: mounts {mounts}, has {volumes | claims}"
    names = {document["metadata"]["name"] for document in found if document["kind"] == "Service"}
    assert spec.get("serviceName") in names | {None}, f"{path}: no Service {spec.get('serviceName')}"
    for document in found:
        where = f"{path}, {document['kind']} {document['metadata']['name']}"
        assert document["metadata"]["namespace"] == "quita", f"{where}: in another namespace"
        selector = document["spec"].get("selector") or document["spec"].get("podSelector")
        assert selector.get("matchLabels", selector) == labels, f"{where}: finds other pods"
        if document["kind"] == "Service":
            assert {port["targetPort"] for port in document["spec"]["ports"]} <= ports, f"{where}: no such port"
        if document["kind"] == "NetworkPolicy":
            allowed = {port["port"] for rule in document["spec"]["ingress"] for port in rule["ports"]}
            assert allowed == ports, f"{where}: allows {allowed} of {ports}"
    kinds = {document["kind"] for document in found}
    assert {"Service", "PodDisruptionBudget", "NetworkPolicy"} <= kinds, f"{path}: has {kinds}"


def check_compose(path, version):
    compose = documents(path)[0]
    with open(os.path.join(os.path.dirname(path), "make_secrets"), encoding="utf-8") as file:
        made = set(re.findall(r"^make ([a-z.-]+) ", file.read(), re.MULTILINE))
    assert {os.path.basename(secret["file"]) for secret in compose["secrets"].values()} == made, "other secrets"
    nodes = [service for service in compose["services"].values() if service["image"].startswith("quita:")]
    assert len(nodes) == 2, f"{path}: {len(nodes)} nodes"
    for node in nodes:
        assert node["image"] == f"quita:${{QUITA_VERSION:-{version}}}", f"{path}: {node['image']}"
        assert node["read_only"] and node["cap_drop"] == ["ALL"], f"{path}: may do more than it needs"
        assert all(port.startswith("127.0.0.1:") for port in node["ports"]), f"{path}: reachable from outside"
    for name, service in compose["services"].items():
        assert set(service.get("secrets", [])) <= compose["secrets"].keys(), f"{path}, {name}: unknown secret"


def main(version, compose, *manifests):
    check_compose(compose, version)
    for path in manifests:
        check_manifests(path, f"quita:{version}")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
