// Receives webhooks and checks their signatures: node webhook.mjs

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = readSecret(process.env.QUITA_SECRET ?? "");
const port = Number(process.env.PORT || 8090);
const maxAgeS = 5 * 60;

// Reads the newest secret. With an empty one, anybody could sign.
function readSecret(text) {
  const [newest] = text.trim().split(/\s+/);
  const secret = Buffer.from(newest.replace(/^whsec_/, ""), "base64");
  // What is no base64 is skipped by Buffer.from, and so is not the same when it is written again.
  if (secret.length < 24 || newest !== `whsec_${secret.toString("base64")}`) {
    const wrong = newest ? "no webhook secret" : "not set";
    console.error(`QUITA_SECRET is ${wrong}; it is what \`quita secrets show --merchant …\` prints`);
    process.exit(2);
  }
  return secret;
}

// Says whether Quita sent this, lately.
function isGenuine(headers, body) {
  const sentAt = headers["webhook-timestamp"] ?? "";
  if (!/^\d+$/.test(sentAt) || Math.abs(Date.now() / 1_000 - Number(sentAt)) > maxAgeS) {
    return false;
  }
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${sentAt}.`), body]);
  const expected = Buffer.from(`v1,${createHmac("sha256", secret).update(signed).digest("base64")}`);
  // While a secret is being replaced there are two signatures.
  const sent = (headers["webhook-signature"] ?? "").split(" ").map((one) => Buffer.from(one));
  return sent.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!isGenuine(request.headers, body)) {
    console.error("signature is bad: is QUITA_SECRET the one of this mode, and the clock right?");
    return response.writeHead(401).end();
  }
  const event = JSON.parse(body);
  // An event may come twice: keep its webhook-id with what you do for it, in one transaction.
  console.log(request.headers["webhook-id"], event.mode, event.event, event.transactionId);
  // Ship nothing unless event.mode is "live" and event.test is not true: else nobody paid.
  response.writeHead(200).end();
});
server.listen(port, "127.0.0.1", () => console.log(`listening on ${server.address().port}`));
