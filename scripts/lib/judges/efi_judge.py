"""Efí's own SDK (PyPI efipay, MIT) against a bank on this machine, over mutual TLS.

python efi_judge.py URL CERT_AND_KEY.pem        with REQUESTS_CA_BUNDLE=ca.pem

The bank must hold the Pix that is refunded. Exit status 1 if an answer was not the one that is wanted.
"""

import sys

from efipay import EfiPay
from efipay.constants import Constants

KEY = "123e4567-e12b-12d1-a456-426655440000"
PIX = "E1234567820261121120000000000001"
TXID = "7978c0c97ea847e78e8849634473c1f1"
Constants.APIS["PIX"]["URL"] = dict.fromkeys(("production", "sandbox"), sys.argv[1].rstrip("/"))
sdk = EfiPay({"client_id": "id", "client_secret": "secret", "sandbox": False, "certificate": sys.argv[2]})
charge = {"calendario": {"expiracao": 3600}, "valor": {"original": "1.00"}, "chave": KEY}
webhook = {"webhookUrl": "https://q.example/acquirers/efi/notifications?hmac=s&ignorar="}
calls = (
    ("create", "status", "ATIVA", lambda: sdk.pix_create_charge(params={"txid": TXID}, body=charge)),
    ("read", "status", "ATIVA", lambda: sdk.pix_detail_charge(params={"txid": TXID})),
    (
        "webhook",
        "webhookUrl",
        webhook["webhookUrl"],
        lambda: sdk.pix_config_webhook(
            params={"chave": KEY}, body=webhook, headers={"x-skip-mtls-checking": "true"}
        ),
    ),
    (
        "refund",
        "status",
        "EM_PROCESSAMENTO",
        lambda: sdk.pix_devolution(params={"e2eId": PIX, "id": "EFI1"}, body={"valor": "1.00"}),
    ),
)
failed = 0
for name, field, wanted, call in calls:
    try:
        answer = call()
    except Exception as error:
        answer = repr(error)
    is_right = isinstance(answer, dict) and answer.get(field) == wanted
    failed += not is_right
    print("efi", name, "ok" if is_right else f"FAILED {str(answer)[:160]}")
sys.exit(failed > 0)
