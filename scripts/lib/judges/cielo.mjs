// A client of Cielo that is not ours (npm cielo, MIT) against the Cielo that the tests use, over HTTPS.
//
// node cielo.mjs MODULES URL CONTROL CA.pem       MODULES is the directory that has node_modules/cielo
//
// The Cielo must have its hosts apart. Exit status 1 if the client understood anything otherwise than the books have it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [modules, url, control, authority] = process.argv.slice(2);
const load = createRequire(`${resolve(modules)}/`);
const { Cielo, EnumBrands, EnumCardType } = load('cielo');
const { Utils } = load('cielo/dist/class/utils');

// Its hosts are fixed: in place of them, ours. The query host is known by its name's place in the path.
const { hostname, port } = new URL(url);
const QUERY = 'query.localhost';
Cielo.prototype.getHostnames = () => [hostname, QUERY];
const original = Utils.prototype.getHttpRequestOptions;
Utils.prototype.getHttpRequestOptions = function (params) {
  const path = params.hostname === QUERY ? `/query${params.path}` : params.path;
  return { ...original.call(this, { ...params, hostname, path }), port, ca: readFileSync(authority), agent: false };
};

const merchant = {
  merchantId: 'dbe5e423-ed15-4c27-843a-fedf325ea67c',
  merchantKey: 'NPGKHFARFASEZEPYEYLTXJMWACSWDEMJWBAKWPQD',
};
const cielo = new Cielo(merchant);

const command = async (name, body = {}) => {
  const answer = await fetch(`${control}/${name}`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
};
const entry = async (order) => (await command('books'))[order].at(-1);

const card = (order, lastDigit, more = {}) => ({
  merchantOrderId: order,
  customer: { name: 'Comprádor da Loja' },
  payment: {
    type: EnumCardType.CREDIT,
    amount: 15700,
    installments: 1,
    softDescriptor: 'LOJA',
    capture: false,
    creditCard: {
      brand: EnumBrands.VISA,
      cardNumber: `411111111111111${lastDigit}`,
      holder: 'COMPRADOR',
      expirationDate: '12/2030',
      securityCode: '123',
    },
    ...more,
  },
});

const refused = async (call, status, code) => {
  const error = await call.then(() => assert.fail('it was not refused'), (error) => error);
  assert.equal(error.statusCode, status, String(error));
  if (code !== undefined) assert.equal(error.response.Code, code);
};

const checks = {
  async 'authorises a card'() {
    const { customer, payment } = await cielo.creditCard.transaction(card('J1', 1));
    assert.equal(customer.name, 'Comprador da Loja');
    assert.match(payment.paymentId, /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
    assert.deepEqual([payment.status, payment.returnCode, payment.amount], [1, '4', 15700]);
    assert.equal(payment.creditCard.cardNumber, '411111******1111');
    assert.equal((await entry('J1')).authorisedCents, 15700);
  },

  async 'captures in part, and once only'() {
    const { payment } = await cielo.creditCard.transaction(card('J2', 4));
    const { paymentId } = payment;
    const captured = await cielo.creditCard.captureSaleTransaction({ paymentId, amount: 10000 });
    assert.deepEqual([captured.status, captured.returnCode, captured.tid], [2, '6', payment.tid]);
    await refused(cielo.creditCard.captureSaleTransaction({ paymentId, amount: 100 }), 400, 308);
    const read = await cielo.consult.paymentId({ paymentId });
    assert.equal(read.merchantOrderId, 'J2');
    assert.deepEqual([read.payment.status, read.payment.amount, read.payment.capturedAmount], [2, 15700, 10000]);
    assert.equal((await entry('J2')).capturedCents, 10000);
  },

  async 'reads by order, where the same order twice is two sales'() {
    const first = await cielo.creditCard.transaction(card('J3', 1));
    const second = await cielo.creditCard.transaction(card('J3', 1));
    const { payments } = await cielo.consult.merchantOrderId({ merchantOrderId: 'J3' });
    const ids = payments.map((line) => line.paymentId);
    assert.deepEqual(ids, [first.payment.paymentId, second.payment.paymentId]);
    assert.ok(payments.every((line) => typeof line.receveidDate === 'string'));
    await refused(cielo.consult.merchantOrderId({ merchantOrderId: 'nobody' }), 404);
  },

  async 'voids an authorisation by its order'() {
    await cielo.creditCard.transaction(card('J4', 1));
    const voided = await cielo.creditCard.cancelTransaction({ merchantOrderId: 'J4' });
    assert.equal(voided.status, 10);
    assert.deepEqual([(await entry('J4')).voidedCents, (await entry('J4')).keptCents], [15700, 0]);
  },

  async 'gives a captured sale back in parts'() {
    const { payment } = await cielo.creditCard.transaction(card('J5', 1, { capture: true }));
    const { paymentId } = payment;
    assert.deepEqual([payment.status, payment.capturedAmount], [2, 15700]);
    assert.equal((await cielo.creditCard.cancelTransaction({ paymentId, amount: 5000 })).status, 2);
    const tooMuch = await cielo.creditCard.cancelTransaction({ paymentId, amount: 15700 });
    assert.deepEqual([tooMuch.status, tooMuch.returnCode], [2, '102']);
    assert.equal((await entry('J5')).keptCents, 10700);
    assert.equal((await cielo.creditCard.cancelTransaction({ paymentId, amount: 10700 })).status, 10);
    assert.equal((await cielo.consult.paymentId({ paymentId })).payment.voidedAmount, 15700);
    assert.equal((await entry('J5')).keptCents, 0);
  },

  async 'understands a decline, and a request that is refused'() {
    const { payment } = await cielo.creditCard.transaction(card('J6', 2));
    assert.deepEqual([payment.status, payment.returnCode], [3, '05']);
    await refused(cielo.creditCard.transaction(card('J6', 1, { amount: 0 })), 400, 108);
    const stranger = new Cielo({ ...merchant, merchantKey: 'another' });
    await refused(stranger.creditCard.transaction(card('J6', 1)), 401, 132);
    assert.equal((await command('books')).J6.length, 1);
  },

  async 'keeps a card, reads it and asks what its first digits tell'() {
    const kept = { customerName: 'F', cardNumber: '4111111111111111', holder: 'F', expirationDate: '12/2030', brand: 'VISA' };
    const { cardToken } = await cielo.card.createTokenizedCard(kept);
    assert.equal((await cielo.consult.cardtoken({ cardToken })).cardNumber, '411111******1111');
    const { payment } = await cielo.creditCard.transaction(
      card('J7', 1, { creditCard: { cardToken, securityCode: '123', brand: EnumBrands.VISA } }),
    );
    assert.equal(payment.status, 1);
    assert.equal((await cielo.consult.bin({ cardBin: '411111' })).provider, 'VISA');
  },

  async 'issues a boleto, which is paid'() {
    const due = new Date(Date.now() + 5 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
    const { payment } = await cielo.bankSlip.create({
      merchantOrderId: 'J8',
      customer: {
        name: 'Comprádor do Boleto',
        identity: '11144477735',
        address: {
          street: 'Avenida Marechal Câmara', number: '160', complement: 'Sala 934', zipCode: '22750012',
          district: 'Centro', city: 'Rio de Janeiro', state: 'RJ', country: 'BRA',
        },
      },
      payment: {
        type: 'Boleto', amount: 10000, provider: 'Bradesco2', address: 'Rua Um, 1', boletoNumber: '123',
        assignor: 'Loja', demonstrative: 'Teste', expirationDate: due, identification: '11222333000181',
        instructions: 'Nao receber apos o vencimento',
      },
    });
    assert.deepEqual([payment.status, payment.expirationDate, payment.number], [1, due, '123']);
    assert.match(payment.barCodeNumber, /^2379[0-9]{5}0000010000[0-9]{25}$/);
    assert.equal(payment.digitableLine.replace(/[^0-9]/g, '').length, 47);
    await command('pay/J8');
    const read = await cielo.consult.paymentId({ paymentId: payment.paymentId });
    assert.deepEqual([read.payment.status, read.payment.capturedAmount], [2, 10000]);
  },

  // The client has no method for PIX: what it has for cards posts any sale.
  async 'makes a PIX, which is paid and given back'() {
    const { payment } = await cielo.creditCard.transaction({
      merchantOrderId: 'J9',
      customer: { name: 'Comprador', identity: '11144477735', identityType: 'CPF' },
      payment: { type: 'Pix', provider: 'Cielo2', amount: 10000, qrCode: { expiration: 3600 } },
    });
    const { paymentId } = payment;
    assert.deepEqual([payment.status, payment.returnCode], [12, '0']);
    assert.match(payment.qrCodeString, /^000201.*br\.gov\.bcb\.pix.*5406100\.00.*6304[0-9A-F]{4}$/);
    await command('pay/J9');
    const read = await cielo.consult.paymentId({ paymentId });
    assert.equal(read.payment.status, 2);
    assert.match(read.payment.endToEndId, /^E[0-9]{8}[0-9]{12}[0-9a-zA-Z]{11}$/);
    assert.equal((await cielo.creditCard.cancelTransaction({ paymentId, amount: 4000 })).status, 2);
    assert.equal((await cielo.creditCard.cancelTransaction({ paymentId })).status, 11);
    assert.equal((await entry('J9')).keptCents, 0);
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
