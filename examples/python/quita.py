"""One call of Quita's API."""

import json
import os
import sys
import urllib.error
import urllib.request

URL = os.environ.get("QUITA_URL", "http://127.0.0.1:8080")
KEY = os.environ["QUITA_KEY"]


def call(method, path, body=None, headers=None):
    request = urllib.request.Request(URL + path, method=method)
    request.add_header("Authorization", f"Bearer {KEY}")
    request.add_header("Content-Type", "application/json")
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(request, data, timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        refusal = json.load(error)
        sys.exit(f"{refusal['code']}: {refusal['message']} (requestId {refusal['requestId']})")
