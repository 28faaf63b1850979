"""Creates a PIX and waits until it is paid: python3 create.py ORDER CENTS"""

import os
import sys
import time

from quita import call, stop, whole_cents


def main(order, cents):
    payment = call(
        "POST",
        "/pay/payments",
        {
            "paymentMethod": "pix",
            "amount": cents,  # 10000 is R$ 100,00
            "currency": "BRL",
            "externalReference": order,
            "postbackUrl": os.environ.get("POSTBACK_URL") or "http://127.0.0.1:8090/",
            "paymentDetails": {
                "firstName": "Maria",
                "lastName": "Silva",
                "document": "52998224725",
                "documentType": "CPF",
                "email": "maria@example.com",
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
        },
        # The same key gets the same payment, however often this is sent.
        {"Idempotency-Key": f"order-{order}"},
    )
    print(payment["transactionId"], payment["status"])
    print(payment["pix"]["code"])
    # Webhooks tell you at once. Ask from time to time for what a webhook may have missed.
    for _ in range(60):
        if payment["status"] != "pending":
            break
        time.sleep(1)
        payment = call("GET", f"/pay/payments/{payment['transactionId']}")
    print(payment["transactionId"], payment["status"])


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1]:
        stop("usage: python3 create.py ORDER CENTS", 2)
    main(sys.argv[1], whole_cents(sys.argv[2]))
