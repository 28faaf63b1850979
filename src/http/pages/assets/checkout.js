// The page of a payment link: focus on mistakes, the address where it is needed, copying, and the live status. PIX and
// boleto work without it.
"use strict";

(() => {
  const main = document.querySelector("main");
  const mistakes = document.getElementById("mistakes");
  if (mistakes) mistakes.focus();

  // --- the address, for the methods that need it ---------------------------------------------------

  const address = document.getElementById("address");
  const methods = [...document.querySelectorAll('input[name="method"]')];

  function showAddress() {
    const chosen = methods.find((method) => method.checked);
    if (address && chosen) address.hidden = chosen.dataset.needsAddress !== "true";
  }

  for (const method of methods) method.addEventListener("change", showAddress);
  showAddress();

  // --- copying --------------------------------------------------------------------------------------

  for (const button of document.querySelectorAll("[data-copy]")) {
    const field = document.getElementById(button.dataset.copy);
    const caption = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      field.focus();
      field.select();
      try {
        await navigator.clipboard.writeText(field.value);
      } catch {
        // Refused by the browser: the code is selected, and can be copied by hand.
        return;
      }
      button.textContent = button.dataset.copied;
      setTimeout(() => { button.textContent = caption; }, 3000);
    });
  }

  // --- live status ----------------------------------------------------------------------------------

  const statusUrl = main.dataset.statusUrl;
  const USUAL_MS = 2000;
  const SLOWEST_MS = 30_000;
  let failures = 0;
  let timer = 0;

  async function ask() {
    clearTimeout(timer);
    try {
      const response = await fetch(statusUrl, { cache: "no-store", credentials: "omit" });
      if (!response.ok) throw new Error(String(response.status));
      const { status } = await response.json();
      if (status !== main.dataset.status) {
        location.replace(location.href);
        return;
      }
      failures = 0;
    } catch {
      failures += 1;
    }
    wait();
  }

  function wait() {
    const pauseMs = Math.min(USUAL_MS * 2 ** failures, SLOWEST_MS);
    clearTimeout(timer);
    timer = setTimeout(ask, document.hidden ? SLOWEST_MS : pauseMs);
  }

  if (statusUrl) {
    document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
    wait();
  }
})();
