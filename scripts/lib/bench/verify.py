"""The last word: is everything there that was answered with 201?"""

import json
import subprocess
import sys

from bench import FLOOR
from processes import die_with_parent


def check_everything(bench):
    for service in list(bench.ids):
        if service.name != FLOOR:
            check_service(bench, service)


def check_service(bench, service):
    """Reads every payment back that any cell got a 201 for; those that were to be paid have to be."""
    for is_told, status in ((False, []), (True, ["--status", "paid"])):
        files = [path for _, path, count in bench.ids[service] if count and path.endswith("-told") == is_told]
        if not files:
            continue
        report = read_back(bench, service, *status, *files)
        if report["missed"]:
            bench.failures.append(f"{service.name}: {report['missed']} of {report['checked']}: {report['misses']}")
        else:
            what = "stored and paid" if is_told else "stored"
            print(f"{service.name}: each of {report['checked']:,} payments is {what}", file=sys.stderr, flush=True)


def read_back(bench, service, *arguments):
    command = [bench.generator, "check", "--target", f"127.0.0.1:{service.port}", "--key", service.key, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=die_with_parent)
    if not ran.stdout:
        return {"checked": "all", "missed": "some", "misses": ran.stderr.strip()}
    return json.loads(ran.stdout)
