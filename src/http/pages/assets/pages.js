// Copying, the countdown and the live status of a payment. The pages work without it.
"use strict";

(() => {
  const main = document.querySelector("main");
  const byId = (id) => document.getElementById(id);
  const SLOWEST_MS = 30_000;
  const HIDDEN_MS = 15_000;

  // --- copying -----------------------------------------------------------------------------------

  async function copy(field) {
    if (navigator.clipboard && window.isSecureContext) {
      try {
        await navigator.clipboard.writeText(field.value);
        return true;
      } catch {
        // Refused by the browser: the old way may still work.
      }
    }
    field.focus();
    field.select();
    field.setSelectionRange(0, field.value.length);
    try {
      return document.execCommand("copy");
    } catch {
      return false;
    }
  }

  for (const button of document.querySelectorAll("[data-copy]")) {
    const field = byId(button.dataset.copy);
    const note = document.querySelector(`[data-copy-note="${button.dataset.copy}"]`);
    const caption = button.textContent;
    let restore = 0;
    button.hidden = false;
    field.addEventListener("focus", () => field.select());
    button.addEventListener("click", async () => {
      const copied = await copy(field);
      note.textContent = copied
        ? "Copiado. Agora cole no aplicativo do seu banco."
        : "O código está selecionado: copie pelo menu do aparelho ou com Ctrl+C.";
      button.textContent = copied ? "Copiado" : caption;
      clearTimeout(restore);
      restore = setTimeout(() => { button.textContent = caption; }, 3000);
    });
  }

  for (const button of document.querySelectorAll("[data-print]")) {
    button.hidden = false;
    button.addEventListener("click", () => window.print());
  }

  // --- countdown ---------------------------------------------------------------------------------

  const deadline = byId("deadline");
  const countdown = byId("countdown");
  // What the payer's clock has to be corrected by; the service's time decides.
  let clockOffsetMs = main.dataset.now ? Date.parse(main.dataset.now) - Date.now() : 0;
  let expiresAtMs = deadline ? Date.parse(deadline.dataset.expiresAt) : NaN;

  function spelled(totalSeconds) {
    const two = (number) => String(number).padStart(2, "0");
    const days = Math.floor(totalSeconds / 86_400);
    const hours = Math.floor(totalSeconds / 3600) % 24;
    const minutes = Math.floor(totalSeconds / 60) % 60;
    const clock = `${two(minutes)}:${two(totalSeconds % 60)}`;
    if (days > 0) return `${days} ${days === 1 ? "dia" : "dias"} e ${hours} h`;
    return hours > 0 ? `${hours}:${clock}` : clock;
  }

  function showCountdown() {
    if (!countdown || Number.isNaN(expiresAtMs)) return;
    const leftMs = expiresAtMs - Date.now() - clockOffsetMs;
    countdown.hidden = false;
    countdown.textContent = leftMs > 0
      ? `Expira em ${spelled(Math.ceil(leftMs / 1000))}`
      : "O prazo terminou";
    deadline.classList.toggle("soon", leftMs < 60_000);
  }

  if (countdown) {
    showCountdown();
    setInterval(showCountdown, 1000);
  }

  // --- live status -------------------------------------------------------------------------------

  // Nothing follows these that a payer waits for; an expired or cancelled payment may still be paid.
  const FINAL = new Set(["paid", "declined", "refund", "chargeback"]);
  const usualMs = Number(main.dataset.pollSeconds) * 1000;
  let failures = 0;
  let timer = 0;
  let asking = false;

  function wait(retryAfterMs) {
    if (FINAL.has(main.dataset.status)) return;
    let pauseMs = Math.min(usualMs * 2 ** Math.min(failures, 6), Math.max(SLOWEST_MS, usualMs));
    if (main.dataset.open !== "true") pauseMs = Math.max(pauseMs, HIDDEN_MS);
    if (document.hidden) pauseMs = Math.max(pauseMs, HIDDEN_MS);
    pauseMs = Math.max(pauseMs, Math.min(retryAfterMs || 0, SLOWEST_MS));
    // Many pages that lost the service at once must not all come back at once.
    if (failures > 0) pauseMs *= 0.8 + Math.random() * 0.4;
    clearTimeout(timer);
    timer = setTimeout(ask, pauseMs);
  }

  async function ask() {
    if (asking) return;
    asking = true;
    clearTimeout(timer);
    let retryAfterMs = 0;
    try {
      const response = await fetch(main.dataset.statusUrl, {
        cache: "no-store",
        credentials: "omit",
        headers: { Accept: "application/json" },
        signal: AbortSignal.timeout ? AbortSignal.timeout(10_000) : undefined,
      });
      retryAfterMs = Number(response.headers.get("Retry-After")) * 1000;
      if (!response.ok) throw new Error(String(response.status));
      const served = Date.parse(response.headers.get("Date") ?? "");
      show(await response.json());
      if (!Number.isNaN(served) && Math.abs(served - Date.now() - clockOffsetMs) > 2000) {
        clockOffsetMs = served - Date.now();
      }
      failures = 0;
    } catch {
      failures += 1;
    } finally {
      asking = false;
    }
    wait(retryAfterMs);
  }

  function show(answer) {
    const words = document.querySelector(`#state-words [data-when="${CSS.escape(String(answer.status))}"]`);
    if (!words) return;
    const expiresAt = Date.parse(answer.expiresAt ?? "");
    if (!Number.isNaN(expiresAt)) expiresAtMs = expiresAt;
    if (answer.status === main.dataset.status) return;
    const open = words.dataset.open;
    // The code was issued after this page was made, or can be paid again: only the service can draw it.
    if (open === "true" && main.dataset.complete !== "true") {
      location.reload();
      return;
    }
    main.dataset.status = answer.status;
    main.dataset.open = open;
    byId("state-label").textContent = words.dataset.label;
    byId("state-sentence").textContent = words.textContent;
    document.title = `${words.dataset.label} – ${document.title.split(" – ").slice(1).join(" – ")}`;
  }

  function askAtOnce() {
    if (!document.hidden && !FINAL.has(main.dataset.status)) ask();
  }

  // The payer comes back from the bank's application, or the connection does.
  document.addEventListener("visibilitychange", askAtOnce);
  window.addEventListener("online", askAtOnce);
  wait(0);
})();
