"""Quita itself against a bank over mutual TLS, behind mountebank, which breaks what passes.

python mountebank_judge.py QUITA FOLDER MOUNTEBANK BANK DESK CERTIFICATES

QUITA is the program, FOLDER is made for its stores, MOUNTEBANK is where that is told what to do, BANK is the bank and DESK
its control path, CERTIFICATES the folder with those that the bank made. Exit status 1 if a fault made something else than
a charge that is asked for, or if a client without our certificate was let in.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from quita_service import PIX, Desk, Quita, ask, txid

PROGRAM, FOLDER, MOUNTEBANK, BANK = sys.argv[1:5]
DESK, CERTIFICATES = Desk(sys.argv[5]), Path(sys.argv[6])
# What was not found is sent again only when it was looked for several times, and late.
SETTLED_WITHIN = 150
# Longer than Quita waits for the bank.
LATE_MS = 5_000
# What becomes of the first request for a charge of so many cents, and how many requests for it there are then.
FAULTS = {
    1_001: ({"fault": "CONNECTION_RESET_BY_PEER"}, 2),
    1_002: ({"is": {"statusCode": 503}}, 2),
    1_003: ("late", 1),
}


def done(what, *said):
    print("mountebank", what, "ok", *said, flush=True)


def pem(name):
    return (CERTIFICATES / name).read_text(encoding="ascii")


def imposter():
    """An address of the bank's that wants our certificate, and breaks some first requests; the others pass."""
    passed = {"proxy": {"to": BANK, "mode": "proxyTransparent", "key": pem("client.key"), "cert": pem("client.pem")}}
    stubs = []
    for cents, (fault, _) in FAULTS.items():
        broken = {**passed, "behaviors": [{"wait": LATE_MS}]} if fault == "late" else fault
        here = [
            {"equals": {"method": "PUT"}},
            {"contains": {"body": f'"{cents / 100:.2f}"'}},
        ]
        stubs.append({"predicates": here, "responses": [broken, {**passed, "repeat": 1000}]})
    told = {
        "protocol": "https",
        "host": "127.0.0.1",
        "recordRequests": True,
        "mutualAuth": True,
        # Without it mountebank asks nobody for a certificate.
        "rejectUnauthorized": True,
        "key": pem("server.key"),
        "cert": pem("server.pem"),
        "ca": pem("ca.pem"),
        "stubs": [*stubs, {"responses": [passed]}],
    }
    status, answer = ask("POST", f"{MOUNTEBANK}/imposters", told)
    assert status == 201, (status, answer)
    return answer["port"]


PORT = imposter()


def requests():
    """What arrived, oldest first."""
    _, answer = ask("GET", f"{MOUNTEBANK}/imposters/{PORT}")
    return answer["requests"]


def service(name, **certificate):
    url = f"https://127.0.0.1:{PORT}"
    reached = {"base_url": url, "token_url": f"{url}/oauth/token", "time_out": "2s", "webhook": "off"}
    return Quita(PROGRAM, f"{FOLDER}/{name}", **reached, ca_file=f"{CERTIFICATES}/ca.pem", **certificate)


def shown(name):
    return {
        "certificate_file": f"{CERTIFICATES}/{name}.pem",
        "private_key_file": f"{CERTIFICATES}/{name}.key",
    }


def turned_away(name, certificate, why):
    """Nothing is read of what somebody sends whom the bank does not know; doctor tells, and nothing is charged."""
    with service(name, **certificate) as quita:
        code, said = quita.doctor()
        told = next((line for line in said.splitlines() if "can't be asked" in line), said)
        assert code == 1 and why in told, said
        record = quita.create(1_000)
        assert (record["status"], record["statusReason"]) == ("declined", "no_acquirer_available"), record
    assert not requests() and not DESK.charges(), (requests(), DESK.charges())
    done("turn away", f"({told.strip()})")


def struck(quita, cents):
    """A charge whose first request is broken is known in the end, and asked for before it is sent again."""
    _, sent = FAULTS[cents]
    record = quita.create(cents)
    assert record["status"] in ("initial", "pending"), record
    assert record["status"] == "pending" or not record["pix"], record
    record = quita.wait_for_status(record["transactionId"], "pending", SETTLED_WITHIN)
    assert record["pix"]["qrCode"], record
    path = f"/cob/{txid(record)}"
    methods = [request["method"] for request in requests() if request["path"] == path]
    pairs = list(zip(methods, methods[1:]))
    assert methods[0] == "PUT" and ("PUT", "PUT") not in pairs and methods.count("PUT") == sent, methods
    assert "GET" in methods[1:], methods
    return methods


turned_away("without a certificate", {}, "our certificate was refused: CertificateRequired")
# To one that it does not trust, this server says nothing: it hangs up.
turned_away("with a foreign certificate", shown("foreign"), "the connection broke")
with service("with our certificate", **shown("client")) as quita:
    code, said = quita.doctor()
    assert code == 0, said
    done("let in")
    with ThreadPoolExecutor(len(FAULTS)) as pool:
        lives = {cents: pool.submit(struck, quita, cents) for cents in FAULTS}
    for cents, life in lives.items():
        fault = FAULTS[cents][0]
        done(fault if fault == "late" else next(iter(fault.values())), *life.result())
    charges = DESK.charges()
    charged = sorted(charge["charged"] for charge in charges.values())
    assert charged == [f"{cents / 100:.2f}" for cents in FAULTS], charges
