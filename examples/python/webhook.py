"""Receives webhooks and checks their signatures: python3 webhook.py"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(os.environ.get("PORT") or "8090")
MAX_AGE_S = 5 * 60


def read_secret(text):
    """Reads the newest secret. With an empty one, anybody could sign."""
    newest = (text.split() or [""])[0]
    try:
        secret = base64.b64decode(newest.removeprefix("whsec_"), validate=True)
    except ValueError:
        secret = b""
    if len(secret) < 24 or not newest.startswith("whsec_"):
        wrong = "no webhook secret" if newest else "not set"
        print(f"QUITA_SECRET is {wrong}; it is what `quita secrets show --merchant …` prints", file=sys.stderr)
        sys.exit(2)
    return secret


SECRET = read_secret(os.environ.get("QUITA_SECRET", ""))


def is_genuine(headers, body):
    """Says whether Quita sent this, lately."""
    webhook_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,12}", sent_at) or abs(time.time() - int(sent_at)) > MAX_AGE_S:
        return False
    signed = f"{webhook_id}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    # While a secret is being replaced there are two signatures.
    sent = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected.encode(), one.encode()) for one in sent)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if not is_genuine(self.headers, body):
            print("signature is bad: is QUITA_SECRET the one of this mode, and the clock right?", file=sys.stderr)
            return self.answer(401)
        event = json.loads(body)
        # An event may come twice: keep its webhook-id with what you do for it, in one transaction.
        print(self.headers["webhook-id"], event["mode"], event["event"], event["transactionId"], flush=True)
        # Ship nothing unless event["mode"] is "live" and event.get("test") is not true: else nobody paid.
        self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
    print(f"listening on {server.server_port}", flush=True)
    server.serve_forever()
