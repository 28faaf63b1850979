// Uses the client that @hey-api/openapi-ts made: every method is created, read and refunded.
import assert from "node:assert/strict";
import { client } from "./hey/client.gen.js";
import { createPayment, moveSandboxPayment, readPayment, refundPayment } from "./hey/index.js";
import type { CreatePayment, Payer } from "./hey/index.js";

const [url, key] = process.argv.slice(2);
client.setConfig({ baseUrl: url, auth: key });

const paymentDetails: Payer = {
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
};
// 27 cents at the end: it stays pending in the sandbox until somebody moves it.
const amount = 10_027;
const orders: CreatePayment[] = [
  { paymentMethod: "pix", amount, currency: "BRL", paymentDetails },
  { paymentMethod: "boleto", amount, currency: "BRL", paymentDetails },
  {
    paymentMethod: "credit_card",
    amount,
    currency: "BRL",
    paymentDetails,
    installments: 3,
    creditCard: {
      number: "4242424242424242",
      holderName: "MARIA SILVA",
      expirationMonth: 12,
      expirationYear: 2049,
      cvv: "123",
    },
  },
];

for (const body of orders) {
  const headers = { "Idempotency-Key": `hey-api-${body.paymentMethod}` };
  const created = await createPayment({ body, headers });
  assert(created.data, JSON.stringify(created.error));
  const path = { transactionId: created.data.transactionId };
  const read = await readPayment({ path });
  assert.equal(read.data?.paymentMethod, body.paymentMethod.toUpperCase());
  if (read.data?.status !== "paid") {
    const moved = await moveSandboxPayment({ path: { ...path, action: "pay" } });
    assert.equal(moved.data?.status, "paid");
  }
  const part = await refundPayment({ path, body: { amount: 27 } });
  assert.deepEqual([part.data?.amount, part.data?.status], ["0.27", "succeeded"]);
  const rest = await refundPayment({ path });
  assert.equal(rest.data?.amount, "100.00");
  const again = await refundPayment({ path });
  assert.equal(again.error?.code, "status_conflict");
  const refunded = await readPayment({ path });
  assert.equal(refunded.data?.status, "refund");
}
