// Pagar.me's own client (npm @pagarme/pagarme-nodejs-sdk, MIT) against the Pagar.me that the tests use, over HTTPS.
//
// node pagarme.mjs MODULES URL CONTROL CA.pem     MODULES is the directory that has node_modules/@pagarme
//
// The client checks every field of every answer and throws at a wrong type. Exit status 1 if it did, or understood
// anything otherwise than the books have it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { connect } from 'node:tls';

const [modules, url, control, authority] = process.argv.slice(2);
const load = createRequire(`${resolve(modules)}/`);
const {
  ChargesController, Client, Environment, OrdersController, PayablesController,
} = load('@pagarme/pagarme-nodejs-sdk');

// Its address is fixed: every connection goes to ours in place of it.
const { hostname, port } = new URL(url);
class Elsewhere extends Agent {
  createConnection(_, connected) {
    const socket = connect({ host: hostname, port, ca: readFileSync(authority) });
    if (connected) {
      socket.once('secureConnect', () => connected(null, socket));
      socket.once('error', (error) => connected(error));
    }
    return socket;
  }
}

const client = (username) => new Client({
  basicAuthCredentials: { username, password: '' },
  environment: Environment.Production,
  timeout: 10000,
  httpClientOptions: { httpsAgent: new Elsewhere({ keepAlive: false }) },
});
const ours = client('sk_test_4Jb1Qm9Zx7Ky2Wv5');
const [orders, charges, payables] = [
  new OrdersController(ours), new ChargesController(ours), new PayablesController(ours),
];

const command = async (name, body = {}) => {
  const answer = await fetch(`${control}/${name}`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
};
const entry = async (code) => (await command('books'))[code].at(-1);

const address = {
  line1: '10, Rua Um, Centro', line2: 'apto 7', street: 'Rua Um', number: '10', neighborhood: 'Centro',
  complement: 'apto 7', zipCode: '01310100', city: 'São Paulo', state: 'SP', country: 'BR',
};
const order = (code, amount, payment) => ({
  code,
  closed: true,
  items: [{ code, amount, description: 'Pedido', quantity: 1, category: 'loja' }],
  customer: {
    name: 'Fulano de Tal', email: 'fulano@example.com', document: '11144477735', documentType: 'CPF',
    type: 'individual', code: 'fulano', metadata: {}, address,
    phones: { mobilePhone: { countryCode: '55', areaCode: '11', number: '987654321' } },
  },
  payments: [{ amount, ...payment }],
});
const card = (code, more = {}, number = '4000000000000010') => order(code, 15700, {
  paymentMethod: 'credit_card',
  creditCard: {
    installments: 1, statementDescriptor: 'LOJA', operationType: 'auth_and_capture', autoRecovery: false,
    card: {
      number, holderName: 'FULANO DE TAL', expMonth: 12, expYear: 2030, cvv: '123', billingAddress: address,
    },
    ...more,
  },
});
const held = (code) => card(code, { operationType: 'auth_only' });
const pix = (code) => order(code, 10000, { paymentMethod: 'pix', pix: { expiresIn: 3600 } });
const made = async (request, key) => (await orders.createOrder(request, key)).result;
const chargeOf = async (request, key) => (await made(request, key)).charges[0];
const payablesOf = async (chargeId, more = {}) => {
  const names = [
    'type', 'splitId', 'bulkAnticipationId', 'status', 'recipientId', 'chargeId', 'paymentDateUntil', 'paymentDateSince',
  ];
  const given = { chargeId, ...more };
  return (await payables.getPayables(...names.map((name) => given[name]))).result;
};

const refused = async (call, status) => {
  const error = await call.then(() => assert.fail('it was not refused'), (error) => error);
  assert.equal(error.statusCode, status, String(error));
  return error.result;
};

const checks = {
  async 'captures a card at once'() {
    const { code, charges: [charge] } = await made(card('J1'));
    assert.equal(code, 'J1');
    assert.deepEqual([charge.status, charge.lastTransaction.status, charge.paidAmount], ['paid', 'captured', 15700]);
    assert.equal(charge.lastTransaction.card.lastFourDigits, '0010');
    assert.equal((await entry('J1')).paidCents, 15700);
  },

  async 'holds a card, captures a part of it, and once only'() {
    const charge = await chargeOf(held('J2'));
    assert.deepEqual([charge.status, charge.lastTransaction.status], ['pending', 'authorized_pending_capture']);
    const part = { code: 'J2', operationReference: 'one', amount: 10000 };
    const { result } = await charges.captureCharge(charge.id, part);
    assert.deepEqual([result.status, result.paidAmount, result.order.code], ['paid', 10000, 'J2']);
    await refused(charges.captureCharge(charge.id, part), 412);
    assert.equal((await entry('J2')).keptCents, 10000);
  },

  async 'answers the same key the same, and does nothing'() {
    const first = await made(card('J3'), 'key-J3');
    const second = await made(card('J3'), 'key-J3');
    assert.deepEqual(second, first);
    const { result } = await orders.getOrders(undefined, undefined, 'J3');
    assert.deepEqual(result.data.map((listed) => listed.id), [first.id]);
    assert.equal((await orders.getOrder(first.id)).result.charges[0].id, first.charges[0].id);
  },

  async 'voids what is held'() {
    const charge = await chargeOf(held('J4'));
    const { result } = await charges.cancelCharge(charge.id, { operationReference: 'void' });
    assert.deepEqual([result.status, result.lastTransaction.status], ['canceled', 'voided']);
    assert.equal((await entry('J4')).keptCents, 0);
  },

  async 'gives a captured card back in parts'() {
    const charge = await chargeOf(card('J5'));
    const part = { operationReference: 'one', amount: 5000 };
    assert.equal((await charges.cancelCharge(charge.id, part)).result.canceledAmount, 5000);
    await refused(charges.cancelCharge(charge.id, { operationReference: 'two', amount: 15700 }), 412);
    const { result } = await charges.cancelCharge(charge.id, { operationReference: 'three' });
    assert.deepEqual([result.status, result.canceledAmount], ['canceled', 15700]);
    const read = (await charges.getCharge(charge.id)).result;
    assert.equal(read.canceledAmount, 15700);
    const steps = (await charges.getChargeTransactions(charge.id)).result.data;
    assert.deepEqual(steps.map((step) => step.status), ['captured', 'partial_void', 'voided']);
    const back = (await payablesOf(charge.id, { type: 'refund' })).data;
    assert.equal(back.reduce((sum, line) => sum + line.amount, 0), -15700);
  },

  async 'understands declines, refusals and strangers'() {
    const declined = await chargeOf(card('J6', {}, '4000000000000028'));
    assert.deepEqual([declined.status, declined.lastTransaction.status], ['failed', 'not_authorized']);
    assert.equal(declined.lastTransaction.acquirerReturnCode, '05');
    await command('plan', { plan: { outcome: { decline: { code: '1016', brandCode: '51' } } } });
    const { retryInfo } = (await chargeOf(card('J6b'))).lastTransaction;
    assert.deepEqual(retryInfo, { brandFailureReturnCode: '51', transactionLimit: null, transactionDateLimit: null });
    const { errors, message } = await refused(orders.createOrder(order('J6c', 0, { paymentMethod: 'pix', pix: {} })), 422);
    assert.equal(message, 'The request is invalid.');
    assert.ok(errors['order.items[0].amount'], JSON.stringify(errors));
    await refused(new OrdersController(client('sk_test_other')).createOrder(card('J6d')), 401);
    assert.equal((await command('books')).J6d, undefined);
  },

  async 'makes a PIX, which is paid and given back'() {
    const charge = await chargeOf(pix('J7'));
    assert.match(charge.lastTransaction.qrCode, /^000201.*br\.gov\.bcb\.pix.*5406100\.00.*6304[0-9A-F]{4}$/);
    await command('pay/J7');
    const read = (await charges.getCharge(charge.id)).result;
    assert.deepEqual([read.status, read.paidAmount], ['paid', 10000]);
    assert.match(read.lastTransaction.endToEndId, /^E[0-9]{8}[0-9]{12}[0-9a-zA-Z]{11}$/);
    const back = (await charges.cancelCharge(charge.id, { operationReference: 'one' })).result;
    assert.deepEqual([back.status, back.lastTransaction.status], ['canceled', 'refunded']);
    assert.equal((await entry('J7')).keptCents, 0);
  },

  async 'issues a boleto, which is paid with more than was asked for'() {
    const due = new Date(Date.now() + 5 * 24 * 60 * 60 * 1000).toISOString();
    const charge = await chargeOf(order('J8', 10000, {
      paymentMethod: 'boleto',
      boleto: {
        retries: 0, bank: '197', instructions: 'Pague', dueAt: due, billingAddress: address, documentNumber: '8',
        statementDescriptor: 'LOJA', fine: { days: 1, type: 'percentage', amount: 2 },
        interest: { days: 1, type: 'percentage', amount: 1 }, maxDaysToPayPastDue: 30,
      },
    }));
    assert.match(charge.lastTransaction.line, /^1979[0-9]{43}$/);
    await command('pay/J8', { amountCents: 10250 });
    const read = (await charges.getCharge(charge.id)).result;
    assert.deepEqual([read.status, read.paidAmount, read.interestAndFinePaid], ['overpaid', 10250, 250]);
  },

  async 'lists payables by instalment, with shares and fees'() {
    const split = [
      { recipientId: 're_a000000000000000000000000', type: 'flat', amount: 5700, options: { chargeProcessingFee: false } },
      {
        recipientId: 're_own00000000000000000000000', type: 'flat', amount: 10000,
        options: { liable: true, chargeProcessingFee: true, chargeRemainderFee: true },
      },
    ];
    const request = card('J9', { installments: 3 });
    request.payments[0].split = split;
    const charge = await chargeOf(request);
    const { data, paging } = await payablesOf(charge.id);
    assert.equal(paging.forwardCursor, null);
    assert.equal(data.length, 6);
    assert.equal(data.reduce((sum, line) => sum + line.amount, 0), 15700);
    const fees = data.filter((line) => line.fee > 0);
    assert.deepEqual(fees.map((line) => line.installment), [1, 2, 3]);
  },

  async 'tells of a chargeback and of a dispute that was won'() {
    const charge = await chargeOf(card('J10'));
    await command('chargeback/J10');
    assert.equal((await charges.getCharge(charge.id)).result.status, 'chargedback');
    await command('win/J10');
    assert.equal((await charges.getCharge(charge.id)).result.status, 'paid');
  },
};

let failed = 0;
for (const [what, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${what}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${what}\n        ${error.stack ?? JSON.stringify(error)}`);
  }
}
console.log(`${Object.keys(checks).length - failed} of ${Object.keys(checks).length} passed`);
process.exitCode = failed === 0 ? 0 : 1;
