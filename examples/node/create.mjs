// Creates a PIX and waits until it is paid: node create.mjs ORDER CENTS

import { call, stop, wholeCents } from "./quita.mjs";

const [order, amount, ...more] = process.argv.slice(2);
if (!order || amount === undefined || more.length > 0) {
  stop("usage: node create.mjs ORDER CENTS", 2);
}
const cents = wholeCents(amount);

let payment = await call(
  "POST",
  "/pay/payments",
  {
    paymentMethod: "pix",
    amount: cents, // 10000 is R$ 100,00
    currency: "BRL",
    externalReference: order,
    postbackUrl: process.env.POSTBACK_URL || "http://127.0.0.1:8090/",
    paymentDetails: {
      firstName: "Maria",
      lastName: "Silva",
      document: "52998224725",
      documentType: "CPF",
      email: "maria@example.com",
      phoneNumber: "11987654321",
      address: {
        street: "Rua Augusta",
        number: "100",
        neighborhood: "Consolação",
        city: "São Paulo",
        state: "SP",
        zipCode: "01304000",
      },
    },
  },
  // The same key gets the same payment, however often this is sent.
  { "idempotency-key": `order-${order}` },
);
console.log(payment.transactionId, payment.status);
console.log(payment.pix.code);
// Webhooks tell you at once. Ask from time to time for what a webhook may have missed.
for (let tries = 0; tries < 60 && payment.status === "pending"; tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  payment = await call("GET", `/pay/payments/${payment.transactionId}`);
}
console.log(payment.transactionId, payment.status);
