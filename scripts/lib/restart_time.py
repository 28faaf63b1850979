#!/usr/bin/env python3
"""Kills and starts the service, and measures until it is ready, has made a payment, and has found an old one.

    restart_time.py PROGRAM DIRECTORY STORE_URL OLD_PAYMENT TIMES
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

PATIENCE_SECONDS = 120
LOADERS = 4
PAYMENT = json.dumps({
    "paymentMethod": "pix", "amount": 10027, "currency": "BRL",
    "paymentDetails": {
        "firstName": "Maria", "lastName": "da Silva", "document": "52998224725", "documentType": "CPF",
        "email": "maria.silva@example.com", "phoneNumber": "11987654321",
        "address": {"street": "Rua Augusta", "number": "100", "neighborhood": "Consolação", "city": "São Paulo",
                    "state": "SP", "zipCode": "01304000"},
    },
}).encode()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def request(port, method, path, key=None, body=None):
    """The status, or 0 if nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Content-Type": "application/json"} if body else {}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    try:
        connection.request(method, path, body, headers)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def until(status, *asked):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while request(*asked) != status:
        if time.monotonic() > deadline:
            sys.exit(f"waited {PATIENCE_SECONDS} s in vain for {status}: {asked[1:3]}")
        time.sleep(0.002)


class Service:
    def __init__(self, program, directory, url):
        self.program, self.directory = program, directory
        self.api, self.ops = free_port(), free_port()
        self.environment = {**os.environ, "QUITA_STORE": url}
        self.process = None

    def start(self):
        arguments = [self.program, "serve", "--listen", f"127.0.0.1:{self.api}", "--ops-listen", f"127.0.0.1:{self.ops}"]
        with open(os.path.join(self.directory, "log"), "ab") as log:
            self.process = subprocess.Popen(
                arguments, cwd=self.directory, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def key(self):
        arguments = [self.program, "keys", "create", "--merchant", "loja"]
        made = subprocess.run(arguments, cwd=self.directory, env=self.environment, check=True, capture_output=True)
        return made.stdout.decode().strip()


def load(service, key, is_over):
    while not is_over.is_set():
        request(service.api, "POST", "/pay/payments", key, PAYMENT)


def kill_under_load(service, key):
    is_over = threading.Event()
    loaders = [threading.Thread(target=load, args=(service, key, is_over)) for _ in range(LOADERS)]
    for loader in loaders:
        loader.start()
    time.sleep(0.5)
    service.kill()
    is_over.set()
    for loader in loaders:
        loader.join()


def measure(service, key, old):
    begun = time.monotonic()
    passed = []
    service.start()
    for asked in (
        (200, service.ops, "GET", "/health/ready"),
        (201, service.api, "POST", "/pay/payments", key, PAYMENT),
        (200, service.api, "GET", f"/pay/payments/{old}", key),
    ):
        until(*asked)
        passed.append((time.monotonic() - begun) * 1000)
    return passed


def main(program, directory, url, old, times):
    service = Service(program, directory, url)
    service.start()
    try:
        until(200, service.ops, "GET", "/health/ready")
        # Only a service makes a store, so the key comes after it.
        key = service.key()
        print("milliseconds from the start until it is ready, has made a payment, has found an old one")
        for _ in range(int(times)):
            kill_under_load(service, key)
            print("  ".join(f"{passed:7.0f}" for passed in measure(service, key, old)), flush=True)
    finally:
        service.kill()


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
