// Gives money back and waits until it went: node refund.mjs TRANSACTION_ID [CENTS]

import { call } from "./quita.mjs";

const [transactionId, cents] = process.argv.slice(2);

let refund = await call(
  "POST",
  `/pay/payments/${transactionId}/refunds`,
  cents ? { amount: Number(cents) } : {}, // a part, or all that is left
  // One key for each refund that you mean: sent again, it gives nothing back twice.
  { "idempotency-key": `refund-${transactionId}-${cents ?? "all"}` },
);
for (let tries = 0; tries < 60 && refund.status === "processing"; tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const payment = await call("GET", `/pay/payments/${transactionId}`);
  refund = payment.refunds.find((one) => one.refundId === refund.refundId);
}
console.log(refund.refundId, refund.amount, refund.status);
