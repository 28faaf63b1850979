"""What is measured, and what measures: processes that are ended by their own ids."""

import ctypes
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

import machine

READY_SECONDS = 120
STOP_SECONDS = 30
FORGET_SECONDS = 60
LIVE = 'quita_actor_live{actor="transaction"}'
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)


def ask(port, path, method="GET", key=None):
    """Status and body, or (0, b"") if nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, headers={"Authorization": f"Bearer {key}"} if key else {})
        response = connection.getresponse()
        return response.status, response.read()
    except OSError:
        return 0, b""
    finally:
        connection.close()


class Process:
    """One program with its own directory; its output goes to a log there."""

    def __init__(self, directory, command, environment=None):
        self.directory, self.command = directory, command
        self.environment = {**os.environ, **(environment or {})}
        self.process = None

    def start(self):
        os.makedirs(self.directory, exist_ok=True)
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(
                self.command, cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, preexec_fn=die_with_parent,
            )

    @property
    def pid(self):
        return self.process.pid

    def is_up(self):
        return True

    def wait_until_up(self):
        deadline = time.monotonic() + READY_SECONDS
        while not self.is_up():
            if self.process.poll() is not None or time.monotonic() > deadline:
                log = machine.text_of(os.path.join(self.directory, "log"))
                sys.exit(f"{os.path.basename(self.command[0])} does not come up:\n{log[-2000:]}")
            time.sleep(0.002)

    def stop(self, number=signal.SIGTERM):
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(number)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Peer(Process):
    """`floor` or `plain`."""

    key = ""

    def __init__(self, name, program, directory, store=None):
        self.name, self.port, self.uses_mongod = name, free_port(), store is not None
        command = [program, "--listen", f"127.0.0.1:{self.port}"]
        super().__init__(directory, command + (["--store", store] if store else []))

    def is_up(self):
        return ask(self.port, "/pay/payments/0")[0] != 0


class Quita(Process):
    """The service as it is run, with everything at its default but the addresses and the store."""

    def __init__(self, name, program, directory, store):
        self.name, self.program, self.store, self.uses_mongod = name, program, store, store.startswith("mongodb")
        self.port, self.ops, self.key, self.mode = free_port(), free_port(), None, "test"
        listen = ["--listen", f"127.0.0.1:{self.port}", "--ops-listen", f"127.0.0.1:{self.ops}"]
        super().__init__(directory, [program, "serve", "--rate-limit", "0", *listen], {"QUITA_STORE": store})

    def configure(self, text, secrets, mode):
        """Gives it a configuration file, files with secrets beside that, and a key of this mode."""
        os.makedirs(self.directory, exist_ok=True)
        for name, content in {"quita.toml": text, **secrets}.items():
            with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
                file.write(content)
        self.command += ["--config", os.path.join(self.directory, "quita.toml")]
        self.mode = mode

    def wait_until_up(self):
        super().wait_until_up()
        # Only a service makes a store, so the key comes after it.
        if self.key is None:
            made = subprocess.run(
                [self.program, "keys", "create", "--merchant", "loja", "--mode", self.mode],
                cwd=self.directory, env=self.environment, check=True, capture_output=True,
            )
            self.key = made.stdout.decode().strip()

    def is_up(self):
        return ask(self.ops, "/health/ready")[0] == 200

    def metric(self, name):
        """The value of a gauge or counter, or 0 if there is none yet."""
        text = ask(self.ops, "/metrics")[1].decode()
        values = [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith(name + " ")]
        return float(values[0]) if values else 0.0

    def live(self):
        return int(self.metric(LIVE))

    def wait_until_forgotten(self):
        """Until no payment is in memory any more."""
        deadline = time.monotonic() + FORGET_SECONDS
        while self.live() and time.monotonic() < deadline:
            time.sleep(0.5)

    def undelivered(self):
        """How many payments have an event that is not confirmed, as the store says."""
        pending = json.loads(ask(self.port, "/pay/webhooks/deliveries?state=pending&limit=1", key=self.key)[1])
        return len(pending["data"])


class Receiver(Process):
    """The receiver of webhooks."""

    def __init__(self, generator, directory):
        self.port = free_port()
        super().__init__(directory, [generator, "receiver", "--listen", f"127.0.0.1:{self.port}"])

    def is_up(self):
        return ask(self.port, "/count")[0] == 200

    def reset(self):
        ask(self.port, "/reset", "POST")

    def count(self):
        return int(ask(self.port, "/count")[1] or 0)

    def report(self):
        return json.loads(ask(self.port, "/report")[1])

    def events(self):
        """{id as hex: {sequence: status}}"""
        events = {}
        for line in ask(self.port, "/events")[1].decode().splitlines():
            transaction, sequence, status, _, _ = line.split()
            events.setdefault(transaction, {})[int(sequence)] = status
        return events


class Spinners:
    """Another program that keeps every core busy."""

    def __init__(self, directory):
        command = ["sh", "-c", "while :; do :; done"]
        self.processes = [Process(directory, command) for _ in range(os.cpu_count())]

    def __enter__(self):
        for process in self.processes:
            process.start()

    def __exit__(self, *_):
        for process in self.processes:
            process.stop(signal.SIGKILL)
