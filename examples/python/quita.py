"""One call of Quita's API, and how the programs end when something is wrong."""

import http.client
import json
import os
import re
import sys
import urllib.error
import urllib.request

URL = os.environ.get("QUITA_URL") or "http://127.0.0.1:8080"


def call(method, path, body=None, headers=None):
    key = os.environ.get("QUITA_KEY") or stop("QUITA_KEY is not set; it is an API key of yours", 2)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", **(headers or {})}
    data = None if body is None else json.dumps(body).encode()
    try:
        with send(urllib.request.Request(URL + path, data, headers, method=method)) as response:
            answer = json.load(response)
    except (OSError, ValueError, http.client.HTTPException) as error:
        stop(f"no answer of Quita's from {URL}: {error}")
    if "Quita-Ignored" in response.headers:
        print(f"Quita-Ignored: {response.headers['Quita-Ignored']}", file=sys.stderr)
    if "Idempotency-Replayed" in response.headers:
        print("Idempotency-Replayed: this key was used before, nothing new was done", file=sys.stderr)
    if response.status >= 400:
        stop(f"{answer['code']}: {answer['message']} (requestId {answer['requestId']})")
    return answer


def send(request):
    try:
        return urllib.request.urlopen(request, timeout=30)
    except urllib.error.HTTPError as refusal:
        return refusal  # an answer too


def whole_cents(text):
    """Reads an amount in cents. What has a comma or a point in it is refused: it would be another amount."""
    if not re.fullmatch("[1-9][0-9]{0,9}", text):
        stop(f"{text!r} is no amount in whole cents, such as 1050 for R$ 10,50", 2)
    return int(text)


def stop(line, code=1):
    print(line, file=sys.stderr)
    sys.exit(code)
