// Runs the script of argv[2] as pages load it, and prints where it would send a card: one line of JSON for each case of
// argv[3], a list of [the page's script element or null, the key, the options].
const fs = require("node:fs");
const vm = require("node:vm");

const source = fs.readFileSync(process.argv[2], "utf8");
const card = { number: "4242 4242 4242 4242", holderName: "M", expirationMonth: "12", expirationYear: "30", cvv: "123" };
for (const [currentScript, key, options] of JSON.parse(process.argv[3])) {
  const sent = [];
  const fetch = (url, how) => {
    sent.push({ url: new URL(url, "https://shop.example/pay").href, redirect: how.redirect });
    return Promise.reject(new Error("not sent"));
  };
  const page = { window: {}, document: { currentScript }, URL, fetch };
  let error = null;
  try {
    vm.runInNewContext(source, page);
    page.window.Quita(key, options || undefined).tokenize(card).catch(() => {});
  } catch (thrown) {
    error = thrown.message;
  }
  console.log(JSON.stringify({ sent, error }));
}
