// Uses the types that openapi-typescript made, with openapi-fetch: every method is created, read and refunded.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Creation = components["schemas"]["CreatePayment"];

const [url, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });

const paymentDetails: components["schemas"]["Payer"] = {
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
const orders: Creation[] = [
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
  const header = { "Idempotency-Key": `openapi-fetch-${body.paymentMethod}` };
  const created = await client.POST("/pay/payments", { body, params: { header } });
  assert(created.data, JSON.stringify(created.error));
  const path = { transactionId: created.data.transactionId };
  const read = await client.GET("/pay/payments/{transactionId}", { params: { path } });
  assert.equal(read.data?.paymentMethod, body.paymentMethod.toUpperCase());
  if (read.data?.status !== "paid") {
    const moved = await client.POST("/sandbox/payments/{transactionId}/{action}", {
      params: { path: { ...path, action: "pay" } },
    });
    assert.equal(moved.data?.status, "paid");
  }
  const refunds = "/pay/payments/{transactionId}/refunds";
  const part = await client.POST(refunds, { params: { path }, body: { amount: 27 } });
  assert.deepEqual([part.data?.amount, part.data?.status], ["0.27", "succeeded"]);
  const rest = await client.POST(refunds, { params: { path } });
  assert.equal(rest.data?.amount, "100.00");
  const again = await client.POST(refunds, { params: { path } });
  const code: components["schemas"]["Error"]["code"] | undefined = again.error?.code;
  assert.equal(code, "status_conflict");
  const refunded = await client.GET("/pay/payments/{transactionId}", { params: { path } });
  assert.equal(refunded.data?.status, "refund");
}
