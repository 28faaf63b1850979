// Gives money back and waits until it went: node refund.mjs TRANSACTION_ID [CENTS]

import { call, stop, wholeCents } from "./quita.mjs";

const [transactionId, amount, ...more] = process.argv.slice(2);
if (!transactionId || more.length > 0) {
  stop("usage: node refund.mjs TRANSACTION_ID [CENTS]", 2);
}
const body = amount === undefined ? {} : { amount: wholeCents(amount) }; // all that is left, or a part

let refund = await call(
  "POST",
  `/pay/payments/${transactionId}/refunds`,
  body,
  // The key belongs to the wish to refund: sent again, it gives nothing back twice. This one is the same for the same
  // sum. A shop that gives back R$ 4,00 twice numbers its wishes in its store: `refund-${wishId}`.
  { "idempotency-key": `refund-${transactionId}-${amount ?? "all"}` },
);
for (let tries = 0; tries < 60 && refund.status === "processing"; tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const payment = await call("GET", `/pay/payments/${transactionId}`);
  refund = payment.refunds.find((one) => one.refundId === refund.refundId);
}
console.log(refund.refundId, refund.amount, refund.status);
