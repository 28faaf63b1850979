/* Quita: tokens of cards for pages of a merchant's own. Quita("qk_pub_…").tokenize({number, …}) */
(function () {
  "use strict";
  var script = document.currentScript;
  var home = script && script.src ? new URL("..", script.src).href : "/";

  function QuitaError(status, body) {
    var error = new Error((body && body.message) || "the card could not be sent");
    error.name = "QuitaError";
    error.status = status;
    error.code = (body && body.code) || "unreachable";
    error.details = (body && body.details) || [];
    return error;
  }

  function digits(value) {
    return String(value === undefined || value === null ? "" : value).replace(/[\s-]/g, "");
  }

  /* Takes {number, holderName, expirationMonth, expirationYear, cvv} and promises
     {token, brand, firstDigits, lastDigits, expiresAt}, or fails with {status, code, message, details}. */
  function tokenize(key, base, card) {
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
    return fetch(base + "pay/tokens", {
      method: "POST",
      mode: "cors",
      credentials: "omit",
      cache: "no-store",
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
    if (!/^qk_pub_(test|live)_/.test(key)) {
      throw new TypeError("Quita needs a publishable key, qk_pub_…; a secret key must never be in a page");
    }
    var base = (options && options.url ? String(options.url).replace(/\/?$/, "/") : home);
    return { tokenize: function (card) { return tokenize(key, base, card || {}); } };
  };
})();
