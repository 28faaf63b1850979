"""Gives money back and waits until it went: python3 refund.py TRANSACTION_ID [CENTS]"""

import sys
import time

from quita import call, stop, whole_cents


def main(transaction_id, cents=None):
    refund = call(
        "POST",
        f"/pay/payments/{transaction_id}/refunds",
        {} if cents is None else {"amount": cents},  # all that is left, or a part
        # The key belongs to the wish to refund: sent again, it gives nothing back twice. This one is the same for the
        # same sum. A shop that gives back R$ 4,00 twice numbers its wishes in its store: f"refund-{wish_id}".
        {"Idempotency-Key": f"refund-{transaction_id}-{cents or 'all'}"},
    )
    for _ in range(60):
        if refund["status"] != "processing":
            break
        time.sleep(1)
        payment = call("GET", f"/pay/payments/{transaction_id}")
        refund = next(one for one in payment["refunds"] if one["refundId"] == refund["refundId"])
    print(refund["refundId"], refund["amount"], refund["status"])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not sys.argv[1]:
        stop("usage: python3 refund.py TRANSACTION_ID [CENTS]", 2)
    main(sys.argv[1], *map(whole_cents, sys.argv[2:]))
