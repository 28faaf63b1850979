// The card on the page of a payment link: its fields, which have no names, so that no form sends them; their shape while
// they are typed; and the one request that takes them to this service. Nothing of them is kept anywhere else.
"use strict";

(() => {
  const card = document.getElementById("card");
  if (!card) return;
  const form = card.closest("form");
  const words = card.dataset;
  const brands = JSON.parse(words.brands);
  const button = form.querySelector("button[type=submit]");
  const caption = button.textContent;
  const main = document.querySelector("main");
  const badge = main.querySelector(".state .badge");
  const sentence = main.querySelector(".state p:last-child");
  const state = main.querySelector(".state");
  const atFirst = { status: main.dataset.status, words: [badge.textContent, sentence.textContent] };

  // --- the fields -----------------------------------------------------------------------------------

  function part(id, label, settings) {
    const holder = document.createElement("p");
    holder.className = "field";
    const caption = document.createElement("label");
    caption.htmlFor = id;
    caption.textContent = label;
    const input = document.createElement("input");
    Object.assign(input, { id, type: "text", spellcheck: false, ...settings });
    holder.append(caption, input);
    return [holder, input];
  }

  const [numberPart, number] =
    part("cc-number", words.number, { autocomplete: "cc-number", inputMode: "numeric", maxLength: 23 });
  const [namePart, name] = part("cc-name", words.name, { autocomplete: "cc-name", maxLength: 100 });
  const [expiryPart, expiry] =
    part("cc-exp", words.expiry, { autocomplete: "cc-exp", inputMode: "numeric", maxLength: 7 });
  const [codePart, code] = part("cc-csc", words.code, { autocomplete: "cc-csc", inputMode: "numeric", maxLength: 4 });
  const brand = document.createElement("span");
  brand.className = "brand";
  brand.dataset.brand = "";
  brand.setAttribute("aria-live", "polite");
  numberPart.classList.add("card-number");
  numberPart.append(brand);
  const two = document.createElement("div");
  two.className = "card-parts";
  two.append(expiryPart, codePart);
  card.querySelector("legend").after(numberPart, namePart, two);

  // --- their shape ----------------------------------------------------------------------------------

  const digitsOf = (text) => text.replace(/\D/g, "");

  function brandOf(digits) {
    const begins = ([first, last]) => {
      const head = digits.slice(0, first.length);
      return head.length === first.length && first <= head && head <= last;
    };
    return brands.find(([, , ranges]) => ranges.some(begins));
  }

  function grouped(digits, known) {
    const [id] = known || [];
    const sizes = id === "amex" || id === "diners" ? [4, 6, 5] : [4, 4, 4, 4, 3];
    const groups = [];
    let from = 0;
    for (const size of sizes) {
      if (from < digits.length) groups.push(digits.slice(from, from + size));
      from += size;
    }
    return groups.join(" ");
  }

  // The caret stays behind the digit that it was behind.
  function write(field, text) {
    const before = digitsOf(field.value.slice(0, field.selectionStart)).length;
    if (text === field.value) return;
    field.value = text;
    if (document.activeElement !== field) return;
    let place = 0;
    for (let seen = 0; place < text.length && seen < before; place += 1) seen += /\d/.test(text[place]) ? 1 : 0;
    while (place < text.length && /\D/.test(text[place])) place += 1;
    field.setSelectionRange(place, place);
  }

  number.addEventListener("input", () => {
    const digits = digitsOf(number.value).slice(0, 19);
    const known = brandOf(digits);
    write(number, grouped(digits, known));
    const [id, title] = known || ["", ""];
    if (brand.dataset.brand !== id) {
      brand.dataset.brand = id;
      brand.textContent = title;
    }
  });

  expiry.addEventListener("input", (event) => {
    const digits = digitsOf(expiry.value).slice(0, 6);
    const isErasing = (event.inputType || "").startsWith("delete");
    // 5 can only be May.
    const whole = /^[2-9]/.test(digits) ? `0${digits}` : digits;
    if (whole.length > 2 || (whole.length === 2 && !isErasing)) {
      expiry.value = `${whole.slice(0, 2)}/${whole.slice(2)}`;
    } else {
      expiry.value = whole;
    }
  });

  code.addEventListener("input", () => write(code, digitsOf(code.value)));

  // --- the choice -----------------------------------------------------------------------------------

  const methods = [...form.querySelectorAll('input[name="method"]')];
  const isChosen = () => methods.some((method) => method.checked && method.value === "credit_card");

  function show() {
    card.hidden = !isChosen();
    button.textContent = isChosen() ? words.pay : caption;
  }

  for (const method of methods) method.addEventListener("change", show);
  // A browser that comes back may choose the method that was chosen before.
  window.addEventListener("pageshow", show);
  show();

  // --- mistakes -------------------------------------------------------------------------------------

  function forget() {
    document.getElementById("mistakes")?.remove();
    for (const field of form.querySelectorAll("[aria-invalid]")) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
    }
    for (const said of form.querySelectorAll(".mistake")) said.remove();
  }

  function mark({ field, words: said }) {
    const input = document.getElementById(field);
    if (!input || !input.matches("input, select")) return;
    const text = document.createElement("span");
    text.className = "mistake";
    text.id = `${field}-mistake`;
    text.textContent = said;
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", text.id);
    input.closest(".field").append(text);
  }

  function tell(mistakes) {
    forget();
    const box = document.createElement("div");
    Object.assign(box, { id: "mistakes", className: "mistakes", tabIndex: -1 });
    box.setAttribute("role", "alert");
    const heading = document.createElement("h2");
    heading.textContent = mistakes.some((mistake) => mistake.field) ? words.check : words.note;
    const list = document.createElement("ul");
    for (const mistake of mistakes) {
      const entry = document.createElement("li");
      if (mistake.field && document.getElementById(mistake.field)) {
        const link = document.createElement("a");
        link.href = `#${mistake.field}`;
        link.textContent = mistake.words;
        link.addEventListener("click", (event) => {
          event.preventDefault();
          const field = document.getElementById(mistake.field);
          (field.matches("input, select") ? field : field.querySelector("input") || field).focus();
        });
        entry.append(link);
      } else {
        entry.textContent = mistake.words;
      }
      list.append(entry);
      mark(mistake);
    }
    box.append(heading, list);
    state.before(box);
    box.focus();
    box.scrollIntoView({ block: "start" });
  }

  // --- the request ----------------------------------------------------------------------------------

  let isSending = false;

  function wait(isWaiting) {
    isSending = isWaiting;
    button.disabled = isWaiting;
    main.dataset.status = atFirst.status;
    badge.textContent = atFirst.words[0];
    sentence.textContent = isWaiting ? words.sending : atFirst.words[1];
  }

  // The words are those of the state; a field that the bank refused is marked, too.
  function tellDecline({ status, words: said, transactionId, mistakes }) {
    forget();
    main.dataset.status = status;
    main.dataset.transactionId = transactionId;
    [badge.textContent, sentence.textContent] = said;
    mistakes.forEach(mark);
    // The bank saw the code, and wants it again with the next card.
    code.value = "";
    state.tabIndex = -1;
    state.focus();
    state.scrollIntoView({ block: "start" });
  }

  // The number of a form whose answer is missing outlives a reload: sent again, it is the same payment.
  const unanswered = `quita ${form.getAttribute("action")}`;

  function keepNumber() {
    try {
      sessionStorage.setItem(unanswered, form.elements.form.value);
    } catch {
      // A browser that keeps nothing forgets it with the page.
    }
  }

  function takeNumber() {
    try {
      const kept = sessionStorage.getItem(unanswered);
      sessionStorage.removeItem(unanswered);
      return kept;
    } catch {
      return null;
    }
  }

  const lost = takeNumber();
  // A page that says what became of that payment begins another one.
  if (lost && !document.getElementById("mistakes")) {
    form.elements.form.value = lost;
    keepNumber();
    tell([{ field: "", words: words.lost }]);
  }

  async function send() {
    const body = Object.fromEntries(new FormData(form));
    body.card = { number: digitsOf(number.value), holderName: name.value, expiry: expiry.value, code: code.value };
    const response = await fetch(form.getAttribute("action"), {
      method: "POST",
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    // After any other failure the payment may be there.
    if (response.status < 500) takeNumber();
    return answer;
  }

  form.addEventListener("submit", async (event) => {
    if (!isChosen()) return;
    event.preventDefault();
    if (isSending) return;
    wait(true);
    let answer;
    keepNumber();
    try {
      answer = await send();
    } catch {
      answer = { mistakes: [{ field: "", words: words.lost }] };
    }
    if (answer.form) form.elements.form.value = answer.form;
    if (answer.location) {
      for (const field of [number, name, expiry, code]) field.value = "";
      location.replace(answer.location);
      return;
    }
    wait(false);
    if (answer.status === "declined") tellDecline(answer);
    else tell(answer.mistakes || []);
  });
})();
