"""Gives money back and waits until it went: python3 refund.py TRANSACTION_ID [CENTS]"""

import sys
import time

from quita import call


def main(transaction_id, cents=None):
    refund = call(
        "POST",
        f"/pay/payments/{transaction_id}/refunds",
        {} if cents is None else {"amount": cents},  # all that is left, or a part
        # One key for each refund that you mean: sent again, it gives nothing back twice.
        {"Idempotency-Key": f"refund-{transaction_id}-{cents}"},
    )
    for _ in range(60):
        if refund["status"] != "processing":
            break
        time.sleep(1)
        payment = call("GET", f"/pay/payments/{transaction_id}")
        refund = next(one for one in payment["refunds"] if one["refundId"] == refund["refundId"])
    print(refund["refundId"], refund["amount"], refund["status"])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
