"""Quita's own API, fuzzed from its own document: no 5xx, and every answer is as the document says.

python api_judge.py QUITA FOLDER EXAMPLES

QUITA is the program, FOLDER is made for its store, EXAMPLES is how many made-up requests each operation gets besides the
systematic ones. schemathesis also follows the document's links from one answer to the next request. Exit status 1 if an
answer is not as the document says.
"""

import subprocess
import sys
from pathlib import Path

from quita_service import Sandbox

PROGRAM, FOLDER, EXAMPLES = sys.argv[1:4]
CARD = {"number": "4242424242424242", "holderName": "MARIA", "expirationMonth": 12, "expirationYear": 2099, "cvv": "123"}
CREATIONS = {
    "pix": {},
    "boleto": {"paymentMethod": "boleto"},
    "card": {"paymentMethod": "credit_card", "creditCard": CARD, "installments": 1, "capture": False},
}

# Taken on purpose, though no client should send it: headers that proxies add, and `null` in an optional field.
HOOKS = '''
import schemathesis


def has_null(value):
    if isinstance(value, dict):
        return any(member is None or has_null(member) for member in value.values())
    return isinstance(value, list) and any(map(has_null, value))


@schemathesis.hook
def filter_headers(context, headers):
    return not headers or "x-schemathesis-unknown-property" not in headers


@schemathesis.hook
def filter_case(context, case):
    return not has_null(case.body)
'''


def configuration(key, operations):
    """schemathesis's own configuration: what it can't find out alone."""
    lines = [
        'hooks = "hooks"',
        "warnings = { enabled = false }",
        "[auth.openapi.apiKey]",
        f'bearer = "{key}"',
        # No schema says which check digits are right, or which cursor this list gave.
        "[checks]",
        "positive_data_acceptance.enabled = false",
    ]
    for path, (parameter, value) in operations.items():
        lines += ["[[operations]]", f'include-path = "{path}"', f'parameters = {{ "path.{parameter}" = "{value}" }}']
    return "\n".join(lines) + "\n"


def name_of(address):
    """The last part of a payer's address, and the token in it."""
    name = address.rsplit("/", 1)[1]
    return name, name.split(".")[0]


def main():
    with Sandbox(PROGRAM, FOLDER) as quita:
        made = {name: quita.create(10_000, **fields) for name, fields in CREATIONS.items()}
        image, pix = name_of(made["pix"]["pix"]["qrCode"])
        slip, boleto = name_of(made["boleto"]["boleto"]["url"])
        card = made["card"]["transactionId"]
        quita.wait_for_status(card, "approved", 30)
        operations = {
            "/pix/{name}": ("name", image),
            "/pix/{token}/status": ("token", pix),
            "/boletos/{name}": ("name", slip),
            "/boletos/{token}/status": ("token", boleto),
            "/pay/payments/{transactionId}/capture": ("transactionId", card),
            "/acquirers/{name}/notifications": ("name", "sandbox"),
            "/acquirers/{name}/notifications/{tail}": ("name", "sandbox"),
        }
        folder = Path(FOLDER)
        (folder / "hooks.py").write_text(HOOKS, encoding="utf-8")
        (folder / "schemathesis.toml").write_text(configuration(quita.key, operations), encoding="utf-8")
        command = [sys.executable, "-m", "schemathesis.cli", "--no-color", "--config-file", "schemathesis.toml", "run"]
        command += [quita.url + "/openapi.json", "--max-examples", EXAMPLES, "--seed", "1", "--continue-on-failure"]
        log = folder / "schemathesis.log"
        with log.open("wb") as out:
            code = subprocess.run(command, cwd=folder, stdout=out, stderr=out, timeout=900, check=False).returncode
        text = log.read_text(encoding="utf-8", errors="replace")
        assert quita.payment(card), "the service has died"
    if code:
        sys.exit(text)
    print(*(line for line in text.splitlines() if "API Links" in line or "generated" in line), sep="\n")


if __name__ == "__main__":
    main()
