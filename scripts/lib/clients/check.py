"""Makes clients from the document that a running service answers, and uses each of them.

    check.py QUITA NODE NODE_PACKAGES WORK
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
READY_WITHIN_S = 60
STEP_WITHIN_S = 300
COMPILER = ["--strict", "--noEmitOnError", "--target", "es2022", "--module", "nodenext", "--types", "node"]
# Declarations of other packages are their own business.
COMPILER += ["--skipLibCheck"]


class Service:
    """`quita serve` with a store of its own, and a test key. To be used in `with`, which ends it."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("QUITA_")}
        self.how = {
            "cwd": folder,
            "env": {**kept, "QUITA_STORE": f"sqlite:{folder}/quita.db"},
            "stdin": subprocess.DEVNULL,
        }

    def __enter__(self):
        self.log = self.folder / "serve.log"
        listen = ["--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--log-format", "json"]
        with self.log.open("wb") as out:
            self.process = subprocess.Popen([self.program, "serve", *listen], **self.how, stdout=out, stderr=out)
        try:
            self.url = f"http://{self.address()}"
            create = [self.program, "keys", "create", "--merchant", "clients"]
            made = subprocess.run(create, **self.how, capture_output=True, text=True, timeout=60, check=False)
            assert made.returncode == 0, made.stderr
            self.key = made.stdout.split()[0]
        except BaseException:
            self.__exit__(None)
            raise
        return self

    def address(self):
        end = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < end:
            assert self.process.poll() is None, f"the service did not start:\n{self.log.read_text()}"
            for line in self.log.read_text(errors="replace").splitlines():
                fields = json.loads(line) if line.startswith("{") else {}
                fields = fields.get("fields", fields)
                if fields.get("message") == "the service is ready":
                    return fields["listen"]
            time.sleep(0.1)
        raise AssertionError(f"the service is not ready within {READY_WITHIN_S} s")

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if kind is not None:
            print(self.log.read_text(errors="replace")[-4000:])


def run(command, folder, **environment):
    """Runs a step to its end, and gives what it said."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=STEP_WITHIN_S,
        check=False,
    )
    assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout}"
    return done.stdout


def openapi_python_client(service, document, folder):
    # Without the formatter that it would run afterwards, and warn of if there is none.
    config = folder / "config.yml"
    config.write_text("post_hooks: []\n", encoding="utf-8")
    module = "import sys; from openapi_python_client.cli import app; sys.exit(app())"
    make = ["generate", "--path", document, "--meta", "none", "--config", config, "--output-path", "quita_client"]
    said = run([sys.executable, "-c", module, *make], folder)
    # It leaves out what it does not understand, and only warns of it.
    assert "Warning" not in said, said
    searched = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    run([sys.executable, HERE / "client.py", service.url, service.key], folder, PYTHONPATH=searched)


def typescript(service, folder, node, packages, program):
    shutil.copy(HERE / program, folder)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "node_modules").symlink_to(packages)
    run([node, packages / "typescript/bin/tsc", *COMPILER, program], folder)
    run([node, (folder / program).with_suffix(".js"), service.url, service.key], folder)


def openapi_typescript(service, document, folder, node, packages):
    run([node, packages / "openapi-typescript/bin/cli.js", document, "-o", "schema.d.ts"], folder)
    typescript(service, folder, node, packages, "openapi_fetch.ts")


def hey_api(service, document, folder, node, packages):
    # Into files that Node.js imports: names with an extension.
    config = {"input": str(document), "output": {"path": "hey", "module": {"extension": ".js"}}}
    text = f"export default {json.dumps(config)};\n"
    (folder / "openapi-ts.config.mjs").write_text(text, encoding="utf-8")
    run([node, packages / "@hey-api/openapi-ts/bin/run.js", "-f", "openapi-ts.config.mjs"], folder)
    typescript(service, folder, node, packages, "hey_api.ts")


def main(program, node, packages, work):
    work, packages = Path(work).resolve(), Path(packages).resolve()

    def folder(name):
        made = work / name
        made.mkdir(parents=True)
        return made

    with Service(program, folder("service")) as service:
        document = work / "openapi.json"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        document.write_bytes(opener.open(f"{service.url}/openapi.json", timeout=30).read())
        openapi_python_client(service, document, folder("python"))
        print("openapi-python-client: every method created, read and refunded")
        openapi_typescript(service, document, folder("openapi-typescript"), node, packages)
        print("openapi-typescript: every method created, read and refunded")
        hey_api(service, document, folder("hey-api"), node, packages)
        print("@hey-api/openapi-ts: every method created, read and refunded")


if __name__ == "__main__":
    main(*sys.argv[1:])
