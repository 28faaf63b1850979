// One call of Quita's API, and how the programs end when something is wrong.

const url = process.env.QUITA_URL || "http://127.0.0.1:8080";

export async function call(method, path, body, headers = {}) {
  const key = process.env.QUITA_KEY || stop("QUITA_KEY is not set; it is an API key of yours", 2);
  let response, answer;
  try {
    response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    answer = await response.json();
  } catch (error) {
    stop(`no answer of Quita's from ${url}: ${error.cause?.code ?? error.message}`);
  }
  if (response.headers.has("quita-ignored")) {
    console.error(`Quita-Ignored: ${response.headers.get("quita-ignored")}`);
  }
  if (response.headers.has("idempotency-replayed")) {
    console.error("Idempotency-Replayed: this key was used before, nothing new was done");
  }
  if (!response.ok) {
    stop(`${answer.code}: ${answer.message} (requestId ${answer.requestId})`);
  }
  return answer;
}

// Reads an amount in cents. What has a comma or a point in it is refused: it would be another amount.
export function wholeCents(text) {
  if (!/^[1-9][0-9]{0,9}$/.test(text)) {
    stop(`${JSON.stringify(text)} is no amount in whole cents, such as 1050 for R$ 10,50`, 2);
  }
  return Number(text);
}

export function stop(line, code = 1) {
  console.error(line);
  process.exit(code);
}
