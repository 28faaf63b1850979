// One call of Quita's API.

const url = process.env.QUITA_URL ?? "http://127.0.0.1:8080";
const key = process.env.QUITA_KEY;

export async function call(method, path, body, headers = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const answer = await response.json();
  if (!response.ok) {
    console.error(`${answer.code}: ${answer.message} (requestId ${answer.requestId})`);
    process.exit(1);
  }
  return answer;
}
