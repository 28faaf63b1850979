"""`quita serve` on this machine, with a store of its own and one bank, as a merchant uses it. For the judges beside it."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

KEY = "123e4567-e12b-12d1-a456-426655440000"
READY_WITHIN = 60
PIX = {
    "paymentMethod": "pix",
    "currency": "BRL",
    "paymentDetails": {
        "firstName": "Maria",
        "lastName": "da Silva",
        "document": "52998224725",
        "documentType": "CPF",
        "email": "maria.silva@example.com",
        "phoneNumber": "11987654321",
        "address": {
            "street": "Rua Augusta",
            "number": "100",
            "neighborhood": "Consolação",
            "city": "São Paulo",
            "state": "SP",
            "zipCode": "01304000",
        },
    },
}
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(method, url, body=None, key=None, timeout=60):
    """One request with JSON, and its answer: the status, and what was in it."""
    headers = {"content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with opener.open(request, timeout=timeout) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    return status, json.loads(text) if text else None


def eventually(what, look, within):
    """What `look` gives once it gives something."""
    end = time.monotonic() + within
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {within} s")
        time.sleep(0.1)


class Quita:
    """The program with one folder: its configuration, its store, its log. To be used in `with`, which ends the service."""

    mode = "live"

    def __init__(self, program, folder, **bank):
        table = {
            "name": "bank",
            "adapter": "api_pix",
            "dialect": "bacen",
            "client-id": "id",
            "pix-key": KEY,
            "receiver-name": "Loja",
            "receiver-city": "Sao Paulo",
            **{name.replace("_", "-"): value for name, value in bank.items()},
        }
        lines = ['public-url = "https://pay.example"', "[[acquirer]]"]
        # A text in JSON is one in TOML too.
        self._prepare(program, folder, lines + [f"{name} = {json.dumps(value)}" for name, value in table.items()])
        self.environment["QUITA_ACQUIRER_BANK_CLIENT_SECRET"] = "secret"

    def _prepare(self, program, folder, lines):
        self.program, self.folder, self.process = program, Path(folder), None
        self.folder.mkdir(parents=True)
        (self.folder / "quita.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("QUITA_")}
        store = f"sqlite:{self.folder}/data/quita.db"
        self.environment = {**kept, "QUITA_STORE": store}

    def run(self, *arguments):
        """Runs a command to its end: its exit code, and what it said, its result first."""
        command = [self.program, *arguments]
        how = {"cwd": self.folder, "env": self.environment, "stdin": subprocess.DEVNULL}
        done = subprocess.run(command, **how, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    def doctor(self):
        """What `quita doctor` finds of these acquirers: its exit code, and all that it said."""
        return self.run("doctor", "--config", "quita.toml")

    def start(self):
        log = self.folder / "serve.log"
        listen = ["--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--log-format", "json"]
        command = [self.program, "serve", "--config", "quita.toml", *listen]
        with log.open("ab") as out:
            before = out.tell()
            how = {"cwd": self.folder, "env": self.environment, "stdin": subprocess.DEVNULL}
            self.process = subprocess.Popen(command, **how, stdout=out, stderr=out)

        def address():
            assert self.process.poll() is None, f"the service did not start:\n{log.read_text()}"
            with log.open("rb") as text:
                text.seek(before)
                for line in text.read().decode(errors="replace").splitlines():
                    fields = json.loads(line) if line.startswith("{") else {}
                    fields = fields.get("fields", fields)
                    if fields.get("message") == "the service is ready":
                        return fields["listen"]
            return None

        self.url = "http://" + eventually("the service is ready", address, READY_WITHIN)

    def stop(self):
        """Ends the service by its own id, and waits for its end."""
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self):
        self.start()
        code, said = self.run("keys", "create", "--merchant", "shop", "--mode", self.mode)
        if code:
            self.stop()
            raise AssertionError(said)
        self.key = said.splitlines()[0]
        return self

    def __exit__(self, kind, *_):
        self.stop()
        if kind is not None:
            print((self.folder / "serve.log").read_text(errors="replace")[-8000:])

    def call(self, method, path, body=None):
        """The answer to a merchant."""
        return ask(method, self.url + path, body, self.key)

    def create(self, cents, **fields):
        status, record = self.call("POST", "/pay/payments", {**PIX, "amount": cents, **fields})
        assert status == 201, (status, record)
        return record

    def payment(self, name):
        status, record = self.call("GET", f"/pay/payments/{name}")
        assert status == 200, (status, record)
        return record

    def wait_for_status(self, name, wanted, within):
        def look():
            record = self.payment(name)
            return record if record["status"] == wanted else None

        try:
            return eventually(f"a payment is {wanted}", look, within)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {self.payment(name)}") from None


class Sandbox(Quita):
    """The program without a bank: a merchant with a test key, as in the README's first minutes."""

    mode = "test"

    def __init__(self, program, folder):
        self._prepare(program, folder, [])


class Desk:
    """The bank's desk: where payers pay, and where the books lie open."""

    def __init__(self, url):
        self.url = url

    def do(self, what, **how):
        status, answer = ask("POST", f"{self.url}/{what}", how)
        assert status == 200, (what, status, answer)
        return answer

    def calls(self, name):
        """How often the bank was called so."""
        return self.do("calls").get(name, 0)

    def charges(self):
        """What the books say of each charge, by its txid; a Pix that came in without one is none."""
        return {name: book for name, book in self.do("books").items() if book["charged"] is not None}

    def tells(self, permille):
        """Has the bank call back about so many of a thousand things that happen."""
        self.do("set", config={"callbacks": {"lostPermille": 1000 - permille}})


def txid(record):
    """What the bank calls the charge of a payment."""
    return record["transactionId"].replace("-", "")
