/* Quita: tokens of cards for pages of a merchant's own. Quita("qk_pub_…").tokenize({number, …}) */
(function () {
  "use strict";
  var script = document.currentScript;
  /* An element named currentScript would stand in its place. */
  var source = script && script.tagName === "SCRIPT" ? parsed(script.src) : null;
  var home = source && /\/checkout\/v1(\.\d+)?\.js$/.test(source.pathname) ? new URL("..", source) : null;

  function parsed(text) {
    try { return new URL(text); } catch (_) { return null; }
  }

  function QuitaError(status, body) {
    /* A browser does not say which of the two it was. */
    var error = new Error((body && body.message) || "the card could not be sent: the service is out of reach, or " +
      "its application does not list the origin of this page, " + window.location.origin);
    error.name = "QuitaError";
    error.status = status;
    error.code = (body && body.code) || "unreachable";
    error.details = (body && body.details) || [];
    return error;
  }

  function digits(value) {
    return String(value === undefined || value === null ? "" : value).replace(/[\s-]/g, "");
  }

  /* The address that tokens are asked of. A card is never sent to any other, nor to the page's own by default. */
  function tokensUrl(options, isTest) {
    var base = options && options.url ? parsed(String(options.url).replace(/\/?$/, "/")) : home;
    if (!base) {
      throw new TypeError("Quita does not know its address: load this script by <script src> from " +
        "https://…/checkout/v1.js, or say it: Quita(key, {url: \"https://…\"})");
    }
    var isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(base.hostname);
    if (base.protocol !== "https:" && !(base.protocol === "http:" && isTest && isLoopback)) {
      throw new TypeError("Quita sends cards by https: only; a test key may use http: on this machine");
    }
    return new URL("pay/tokens", base).href;
  }

  /* Takes {number, holderName, expirationMonth, expirationYear, cvv} and promises
     {token, brand, firstDigits, lastDigits, expiresAt}, or fails with {status, code, message, details}. */
  function tokenize(key, url, card) {
    var year = digits(card.expirationYear);
    var body = {
      creditCard: {
        number: digits(card.number),
        holderName: String(card.holderName || "").trim(),
        expirationMonth: digits(card.expirationMonth),
        expirationYear: year.length === 2 ? "20" + year : year,
        cvv: digits(card.cvv)
      }
    };
    return fetch(url, {
      method: "POST",
      mode: "cors",
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      referrerPolicy: "no-referrer",
      headers: { "Authorization": "Bearer " + key, "Content-Type": "application/json" },
      body: JSON.stringify(body)
    }).then(function (answer) {
      return answer.json().catch(function () { return null; }).then(function (read) {
        if (answer.ok && read) { return read; }
        throw QuitaError(answer.status, read);
      });
    }, function () { throw QuitaError(0, null); });
  }

  window.Quita = function (key, options) {
    var mode = /^qk_pub_(test|live)_/.exec(key);
    if (!mode) {
      throw new TypeError("Quita needs a publishable key, qk_pub_…; a secret key must never be in a page");
    }
    var url = tokensUrl(options, mode[1] === "test");
    return { tokenize: function (card) { return tokenize(key, url, card || {}); } };
  };
})();
