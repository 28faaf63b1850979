// The card goes from this page to Quita alone; your server gets the token.
const form = document.getElementById("card");
const outcome = document.getElementById("outcome");
const value = (id) => document.getElementById(id).value;

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
    outcome.textContent = `${brand} …${lastDigits}`;
    // Your server creates the payment with its secret key and "creditCard": {"token": token}.
    await fetch(form.dataset.checkout, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
  } catch (error) {
    outcome.dataset.code = error.code;
    outcome.textContent = error.message;
  } finally {
    button.disabled = false;
  }
});
