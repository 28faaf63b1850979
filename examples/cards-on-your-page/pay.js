// The card goes from this page to Quita alone; your server gets the token.
const form = document.getElementById("card");
const outcome = document.getElementById("outcome");
const value = (id) => document.getElementById(id).value;
const words = { paid: "Pago", approved: "Aprovado", declined: "Recusado" };

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  outcome.textContent = "…";
  try {
    const { token, brand, lastDigits } = await Quita(form.dataset.key).tokenize({
      number: value("number"),
      holderName: value("holder"),
      expirationMonth: value("month"),
      expirationYear: value("year"),
      cvv: value("cvv"),
    });
    outcome.dataset.token = token;
    const status = await pay(token);
    outcome.dataset.status = status;
    outcome.textContent = `${words[status] ?? status}: ${brand} …${lastDigits}`;
  } catch (error) {
    outcome.dataset.code = error.code;
    outcome.textContent = error.message;
  } finally {
    button.disabled = false;
  }
});

// Your server creates the payment with its secret key, "creditCard": {"token": token}, and an Idempotency-Key of the
// order, so that who presses twice pays once. It answers the payment's status, {"status": "paid"}.
async function pay(token) {
  try {
    const answer = await fetch(form.dataset.checkout, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    const { status } = await answer.json();
    if (answer.ok && status) {
      return status;
    }
    throw new Error(`the shop answered ${answer.status}`);
  } catch (cause) {
    const text = "A loja não respondeu se o pagamento foi feito. Fale com ela antes de tentar de novo.";
    throw Object.assign(new Error(text, { cause }), { code: "shop_unclear" });
  }
}
