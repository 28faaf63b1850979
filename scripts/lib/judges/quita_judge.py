"""Quita itself against a bank on this machine, by way of a judge that looks at every request and answer.

python quita_judge.py QUITA FOLDER BETWEEN BANK DESK

QUITA is the program, FOLDER is made for its store, BETWEEN is where the judge listens, BANK where the bank does (tokens
come from there: no document of API Pix has their path), DESK is the bank's control path. The judge's own log says what it
found; exit status 1 if a payment did not live as it should.
"""

import sys
from urllib.parse import urlsplit

from quita_service import KEY, Desk, Quita, ask, eventually, txid

PROGRAM, FOLDER, BETWEEN, BANK = sys.argv[1:5]
DESK = Desk(sys.argv[5])
# A bank that calls back is heard at once; one that does not is asked after a minute.
SOON, POLLED = 30, 150

# All that Quita ever sends to a bank, but for tokens.
CALLS = (
    "PUT /cob/{txid}",
    "GET /cob/{txid}",
    "PATCH /cob/{txid}",
    "GET /pix/{e2eid}",
    "PUT /pix/{e2eid}/devolucao/{id}",
    "GET /pix/{e2eid}/devolucao/{id}",
    "GET /webhook/{chave}",
    "PUT /webhook/{chave}",
)


def done(what, *said):
    print("quita", what, "ok", *said, flush=True)


def registered(quita):
    eventually("the bank knows where to call back", lambda: DESK.calls("PUT /webhook/{chave}") == 1, SOON)
    quita.stop()
    quita.start()
    eventually("the bank is asked where it calls back", lambda: DESK.calls("GET /webhook/{chave}") == 2, SOON)
    DESK.do("forward", to=quita.url)
    done("register the callback, and find it registered")


def callback(quita, pix):
    """Calls back where the bank was told to."""
    code, said = quita.run("secrets", "notification", "bank", "--config", "quita.toml")
    assert code == 0, said
    status, answer = ask("POST", quita.url + urlsplit(said.splitlines()[0]).path, {"pix": [pix]})
    assert status == 200, (status, answer)


def created(quita, cents):
    record = quita.create(cents)
    assert record["status"] == "pending" and record["pix"]["qrCode"], record
    return record["transactionId"], txid(record)


def refunded(quita, name, cents, wanted):
    """Gives so much back, and waits until the bank has done it."""
    status, refund = quita.call("POST", f"/pay/payments/{name}/refunds", {"amount": cents})
    assert status == 201 and refund["status"] == "processing", (status, refund)

    def look():
        record = quita.payment(name)
        return record if all(one["status"] == "succeeded" for one in record["refunds"]) else None

    record = eventually("the refund has ended", look, SOON + POLLED)
    assert (record["status"], record["refundedAmount"]) == wanted, record


def live(quita):
    registered(quita)

    # Of this one the bank never tells.
    DESK.tells(0)
    unheard, unheard_txid = created(quita, 2_500)
    DESK.do(f"pay/{unheard_txid}")
    # Of this one it tells without a txid, as some do.
    named, named_txid = created(quita, 3_600)
    callback(quita, {"endToEndId": DESK.do(f"pay/{named_txid}")["endToEndId"], "chave": KEY})
    quita.wait_for_status(named, "paid", SOON)
    done("paid, by a callback that names the Pix alone")
    DESK.tells(1000)

    paid, paid_txid = created(quita, 10_000)
    done("create")
    DESK.do(f"pay/{paid_txid}")
    record = quita.wait_for_status(paid, "paid", SOON)
    done("paid, by a callback and the question that follows", record["pix"]["endToEndId"])
    refunded(quita, paid, 5_000, ("paid", "50.00"))
    done("refund the half, and hear of it")
    DESK.tells(0)
    refunded(quita, paid, 5_000, ("refund", "100.00"))
    done("refund the rest, and ask for it")
    account = DESK.charges()[paid_txid]
    assert (account["received"], account["refunded"], len(account["refunds"])) == ("100.00", "100.00", 2), account

    cancelled, cancelled_txid = created(quita, 1_234)
    status, answer = quita.call("POST", f"/pay/payments/{cancelled}/cancel", {})
    assert status == 200 and answer["status"] == "cancelled", (status, answer)
    account = DESK.charges()[cancelled_txid]
    assert account["status"] == "REMOVIDA_PELO_USUARIO_RECEBEDOR", account
    done("cancel")

    quita.wait_for_status(unheard, "paid", POLLED)
    done("paid, by asking alone")


def doctored(quita):
    code, said = quita.doctor()
    assert code == 0 and "answers" in said, said
    done("ask for what nobody has")


quita = Quita(PROGRAM, FOLDER, base_url=BETWEEN, token_url=f"{BANK}/oauth/token")
with quita:
    doctored(quita)
    live(quita)
assert len(DESK.charges()) == 4, DESK.charges()
calls = DESK.do("calls")
for call in CALLS:
    assert calls.get(call), f"{call} was never sent: {calls}"
print("quita", *(f"{call}: {calls[call]}," for call in CALLS))
