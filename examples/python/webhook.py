"""Receives webhooks and checks their signatures: python3 webhook.py"""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ["QUITA_SECRET"].removeprefix("whsec_"))
PORT = int(os.environ.get("PORT", "8090"))
MAX_AGE_S = 5 * 60


def is_genuine(headers, body):
    """Says whether Quita sent this, lately."""
    webhook_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent_at.isdigit() or abs(time.time() - int(sent_at)) > MAX_AGE_S:
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
