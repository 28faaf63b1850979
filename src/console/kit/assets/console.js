// What is live in the two consoles. Every page works without it; every word comes from the page.
"use strict";

(() => {
  const root = document.documentElement;
  const language = root.lang || "en";
  const HIDDEN_MS = 60_000;
  const SLOWEST_MS = 30_000;
  // Streams send something every three seconds.
  const SILENT_S = 8;
  const LOST_S = 3;
  const AGAIN_MS = 1500;
  const ASKED_MS = 10_000;
  const OUTAGE_MS = 5000;
  const MARK_MS = 4000;
  const SELECTION_MS = 15_000;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // --- files, which a form carries as text -----------------------------------------------------------

  for (const field of all("input[type=file][data-into]")) {
    const into = document.getElementById(field.dataset.into);
    field.disabled = false;
    field.addEventListener("change", () => {
      const [file] = field.files;
      const isTooLarge = file !== undefined && file.size > Number(field.dataset.most);
      into.value = "";
      field.setCustomValidity(isTooLarge ? field.dataset.tooLarge : "");
      if (isTooLarge) field.reportValidity();
      if (!file || isTooLarge) return;
      const reader = new FileReader();
      reader.addEventListener("load", () => { into.value = reader.result.split(",")[1] ?? ""; });
      reader.readAsDataURL(file);
    });
  }

  // --- numbers and times in the page's language ----------------------------------------------------

  const numbers = (options) => new Intl.NumberFormat(language, options);
  const unit = (name, digits) => numbers({ style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits });
  const zone = root.dataset.timeZone ? { timeZone: root.dataset.timeZone } : {};
  const clock = new Intl.DateTimeFormat(language, { timeStyle: "medium", hourCycle: "h23", ...zone });
  const minute = new Intl.DateTimeFormat(language, { timeStyle: "short", hourCycle: "h23", ...zone });
  const day = new Intl.DateTimeFormat(language, { day: "2-digit", month: "2-digit", timeZone: "UTC" });
  const money = numbers({ style: "currency", currency: "BRL" });
  const count = numbers({ maximumFractionDigits: 0 });
  const rate = numbers({ maximumFractionDigits: 1 });
  const percent = numbers({ style: "percent", maximumFractionDigits: 1 });

  function seconds(value) {
    if (value > 0 && value < 1) return unit("millisecond", 0).format(value * 1000);
    if (value < 120) return unit("second", value < 10 ? 1 : 0).format(value);
    if (value < 7200) return unit("minute", 0).format(value / 60);
    return value < 172_800 ? unit("hour", 1).format(value / 3600) : unit("day", 1).format(value / 86_400);
  }

  const FORMATS = {
    count: (value) => count.format(value),
    rate: (value) => `${rate.format(value)}/s`,
    percent: (value) => percent.format(value / 100),
    money: (cents) => money.format(cents / 100),
    milliseconds: (value) => (value < 1000 ? unit("millisecond", value > 0 && value < 1 ? 2 : value < 100 ? 1 : 0).format(value) : seconds(value / 1000)),
    seconds,
    time: (ms) => clock.format(new Date(ms)),
  };

  function shown(value, format) {
    if (value === null || value === undefined || value === "") return "–";
    return FORMATS[format] ? FORMATS[format](Number(value)) : String(value);
  }

  // For the axes of plots, where there is little room.
  function brief(value, format) {
    if (format === "money") return numbers({ style: "currency", currency: "BRL", notation: "compact", maximumFractionDigits: 1, minimumFractionDigits: 0 }).format(value / 100);
    return format === "count" && value >= 10_000 ? numbers({ notation: "compact" }).format(value) : shown(value, format);
  }

  function ago(within) {
    const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
    for (const time of all("time[data-ago]", within)) {
      const past = (Date.parse(time.dateTime) - Date.now()) / 1000;
      if (Number.isNaN(past)) continue;
      time.title ||= time.textContent;
      const [size, name] = [[86_400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]].find(([size]) => Math.abs(past) >= size) ?? [1, "second"];
      time.textContent = relative.format(Math.round(past / size), name);
    }
  }

  // --- copying ---------------------------------------------------------------------------------------

  const announcer = document.createElement("div");
  announcer.className = "visually-hidden";
  announcer.setAttribute("role", "status");
  document.body.append(announcer);

  async function copy(source) {
    const text = source.value ?? source.textContent;
    if (navigator.clipboard && window.isSecureContext) {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch {
        // Refused by the browser: the old way may still work.
      }
    }
    if (source.select) source.select();
    else getSelection().selectAllChildren(source);
    try {
      return document.execCommand("copy");
    } catch {
      return false;
    }
  }

  async function copyFrom(button) {
    const source = document.querySelector(button.dataset.copy);
    if (!source || button.classList.contains("copied")) return;
    const copied = await copy(source);
    const words = (copied ? button.dataset.copied : button.dataset.copyFailed) ?? "";
    const caption = button.textContent;
    announcer.textContent = words;
    if (copied) button.classList.add("copied");
    button.textContent = words || caption;
    setTimeout(() => {
      button.classList.remove("copied");
      button.textContent = caption;
      announcer.textContent = "";
    }, 3000);
  }

  // --- forms, menus, rows ----------------------------------------------------------------------------

  let leaving = false;

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post") return;
    leaving = true;
    form.setAttribute("aria-busy", "true");
    // After the browser has read the form: a disabled button would not send its value.
    setTimeout(() => { for (const button of form.elements) if (button.type === "submit") button.disabled = true; });
    setTimeout(settle, SLOWEST_MS);
  });

  // The page was come back to, or what was sent didn't lead to another page.
  function settle() {
    leaving = false;
    for (const form of all("form[aria-busy]")) {
      form.removeAttribute("aria-busy");
      for (const button of form.elements) if (button.type === "submit") button.disabled = false;
    }
  }

  window.addEventListener("pageshow", settle);

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copyFrom(button);
    for (const menu of all("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    const row = event.target.closest(".table-rows tbody tr");
    if (row && getSelection().isCollapsed && !event.target.closest("a, button, input, select, summary, label")) {
      const link = row.querySelector(".row-link");
      if (link && (event.ctrlKey || event.metaKey)) window.open(link.href, "_blank", "noopener");
      else link?.click();
    }
  });

  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  function prepare(within) {
    for (const button of all("[data-copy]", within)) button.hidden = false;
    ago(within);
  }

  // --- streams ---------------------------------------------------------------------------------------

  const streams = [];
  let hiddenTimer = 0;

  function showState() {
    const states = streams.map((stream) => stream.state);
    const state = ["reconnecting", "paused"].find((one) => states.includes(one)) ?? "live";
    for (const element of all("[data-live-state]")) {
      const word = element.getAttribute(`data-word-${state}`);
      element.hidden = !word;
      if (element.dataset.state !== state) element.textContent = word;
      element.dataset.state = state;
    }
  }

  // --- a node that no longer answers -----------------------------------------------------------------

  let heardAt = Date.now();
  let isAway = false;
  let isPollLost = false;
  // Seconds are counted, not measured: a computer that slept has missed nothing yet.
  let silentS = 0;
  let lostS = 0;
  let watching = 0;

  // Without a stream, only the polls for an outage tell whether the node is there.
  const isPolled = () => streams.every((stream) => stream.isRefused);

  function showAway(away) {
    if (away === isAway) return;
    isAway = away;
    document.body.classList.toggle("node-away", away);
    for (const bar of all("[data-node-away]")) {
      for (const time of all("time", bar)) {
        time.dateTime = new Date(heardAt).toISOString();
        time.textContent = clock.format(new Date(heardAt));
      }
      for (const words of all("[data-of-live]", bar)) words.hidden = isPolled();
      bar.hidden = !away;
    }
  }

  // The page is as the node has it.
  function renew() {
    heardAt = Date.now();
    silentS = 0;
    lostS = 0;
    showAway(false);
  }

  // The node is there, though it sent nothing for the page.
  function meet() {
    silentS = 0;
    isPollLost = false;
    if (isPolled()) renew();
  }

  function watch() {
    if (document.hidden) return;
    const isLost = isPolled() ? isPollLost : streams.every((stream) => stream.isLost || stream.isRefused);
    const longestS = isPolled() ? SILENT_S + OUTAGE_MS / 1000 : SILENT_S;
    silentS += 1;
    lostS = isLost ? lostS + 1 : 0;
    if (silentS > longestS || lostS >= LOST_S) showAway(true);
  }

  // A page that was hidden may have had its requests cut off.
  function attend() {
    silentS = 0;
    lostS = 0;
    isPollLost = false;
    watching ||= setInterval(watch, 1000);
  }

  // The page itself will say what is wrong, or ask to sign in; never in a loop.
  function reload() {
    const last = Number(sessionStorage.getItem("reloaded-at"));
    if (Date.now() - last < SLOWEST_MS) return false;
    sessionStorage.setItem("reloaded-at", String(Date.now()));
    location.reload();
    return true;
  }

  class Stream {
    constructor(url, event, take, opened) {
      Object.assign(this, { url, event, take, opened, state: "reconnecting", isLost: false, isRefused: false, failures: 0, timer: 0, silence: 0, source: null });
      streams.push(this);
    }

    open() {
      if (this.source) return;
      clearTimeout(this.timer);
      this.source = new EventSource(this.url);
      this.source.addEventListener("open", () => {
        this.failures = 0;
        this.listen();
        this.become("live");
        this.opened?.();
      });
      this.source.addEventListener("alive", () => this.hear());
      this.source.addEventListener(this.event, (event) => {
        this.hear();
        this.take(event.data);
      });
      this.source.addEventListener("error", () => {
        if (this.source?.readyState === EventSource.CLOSED) {
          this.askWhy();
          return;
        }
        this.isLost = true;
        this.close("reconnecting");
        // Browsers wait three to five seconds, in which the page would already count as lost.
        this.openIn(AGAIN_MS);
      });
    }

    // Many pages that lost the service at once must not all come back at once.
    openIn(pauseMs) {
      this.timer = setTimeout(() => this.open(), pauseMs * (0.8 + Math.random() * 0.4));
    }

    hear() {
      this.isLost = false;
      this.isRefused = false;
      this.listen();
      renew();
    }

    // A service that hangs and a network that drops everything end no connection: only their silence tells.
    listen() {
      clearTimeout(this.silence);
      this.silence = setTimeout(() => {
        this.isLost = true;
        this.askWhy();
      }, SILENT_S * 1000);
    }

    close(state) {
      clearTimeout(this.timer);
      clearTimeout(this.silence);
      this.source?.close();
      this.source = null;
      this.become(state);
    }

    become(state) {
      this.state = state;
      showState();
    }

    // A stream that was refused doesn't say why; a request for the same does.
    async askWhy() {
      this.close("reconnecting");
      const request = new AbortController();
      const limit = setTimeout(() => request.abort(), ASKED_MS);
      let isAnswered = false;
      let isRefused = false;
      try {
        const answer = await fetch(this.url, { cache: "no-store", redirect: "manual", signal: request.signal });
        const isFinal = answer.type === "opaqueredirect" || [401, 403, 404, 410].includes(answer.status);
        if (isFinal && reload()) return;
        // The node's own answers have this header; a proxy answers for a node that is away.
        isAnswered = isFinal || answer.headers.has("X-Request-Id");
        isRefused = isAnswered && !answer.ok;
      } catch {
        // The network is away: the next try will tell.
      } finally {
        clearTimeout(limit);
        request.abort();
      }
      if (this.state !== "reconnecting" || this.source) return;
      this.isLost = !isAnswered;
      this.isRefused = isRefused;
      if (isAnswered) meet();
      this.failures += 1;
      this.openIn(Math.min(1000 * 2 ** (this.failures - 1), SLOWEST_MS));
    }
  }

  const pause = () => streams.forEach((stream) => stream.close("paused"));
  const resume = () => { if (!document.hidden) streams.forEach((stream) => stream.open()); };

  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) {
      hiddenTimer = setTimeout(pause, HIDDEN_MS);
      return;
    }
    attend();
    resume();
  });
  window.addEventListener("pagehide", pause);
  // Also the first time, when the page is complete.
  window.addEventListener("pageshow", resume);
  window.addEventListener("pageshow", attend);
  window.addEventListener("online", resume);

  // --- live sections ---------------------------------------------------------------------------------

  const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";
  const SCROLLED = ".table-wrap, .code, .tabs";
  let pressed = false;

  // Where the focus is, in words that outlive the elements.
  function focusIn(section) {
    const focused = document.activeElement;
    if (!section.contains(focused) || focused === section) return null;
    if (focused.id) return () => document.getElementById(focused.id);
    const row = focused.closest("[data-key]");
    const index = all(FOCUSABLE, row ?? section).indexOf(focused);
    const find = () => (row ? section.querySelector(`[data-key="${CSS.escape(row.dataset.key)}"]`) : section);
    return () => find() && (all(FOCUSABLE, find())[index] ?? find().querySelector(FOCUSABLE));
  }

  function replace(section, html) {
    const versions = new Map(all("[data-key]", section).map((row) => [row.dataset.key, row.dataset.version]));
    const focus = focusIn(section);
    const toggled = all("details[id]", section).map((details) => [details.id, details.open]);
    const scrolled = all(SCROLLED, section).map((element) => [element.scrollLeft, element.scrollTop]);
    section.innerHTML = html;
    for (const [id, open] of toggled) {
      const details = document.getElementById(id);
      if (details) details.open = open;
    }
    all(SCROLLED, section).forEach((element, index) => { if (scrolled[index]) element.scrollTo(...scrolled[index]); });
    focus?.()?.focus({ preventScroll: true });
    for (const row of all("[data-key]", section)) {
      const isNew = !versions.has(row.dataset.key);
      if (!isNew && versions.get(row.dataset.key) === row.dataset.version) continue;
      const mark = isNew ? "is-new" : "is-changed";
      row.classList.add(mark);
      setTimeout(() => row.classList.remove(mark), MARK_MS);
    }
    prepare(section);
  }

  document.addEventListener("pointerdown", () => { pressed = true; });
  for (const name of ["pointerup", "pointercancel", "dragend", "contextmenu"]) document.addEventListener(name, () => { pressed = false; });

  for (const section of all("[data-live]")) {
    let last = null;
    let waiting = null;
    let heldSince = 0;
    // Nobody's click or half-typed word is taken away, and a selection not at once.
    const isBusy = () => {
      const selection = getSelection();
      const isSelecting = !selection.isCollapsed && section.contains(selection.anchorNode);
      const focused = document.activeElement;
      return pressed || leaving || (isSelecting && Date.now() - heldSince < SELECTION_MS)
        || (section.contains(focused) && focused.matches("input:not([type=checkbox], [type=radio]), select, textarea"));
    };
    const show = () => {
      if (waiting === null || isBusy()) return;
      last = waiting;
      waiting = null;
      replace(section, last);
    };
    new Stream(section.dataset.live, "fragment", (html) => {
      if (waiting === null) heldSince = Date.now();
      waiting = html === last ? null : html;
      show();
    });
    setInterval(show, 500);
  }

  // --- an outage of the store ------------------------------------------------------------------------

  async function askOutage(bar) {
    if (document.hidden) return;
    try {
      const answer = await fetch(bar.dataset.outage, {
        cache: "no-store",
        headers: { Accept: "application/json" },
        signal: AbortSignal.timeout(ASKED_MS),
      });
      if (!answer.ok) {
        isPollLost = true;
        return;
      }
      const { since, trouble } = await answer.json();
      meet();
      bar.hidden = since === null;
      if (since === null) {
        // A page that could not be shown during the outage asks again.
        if (document.querySelector("[data-retry]")) reload();
        return;
      }
      for (const words of all("[data-trouble]", bar)) words.hidden = words.dataset.trouble !== trouble;
      for (const time of all("[data-outage-since]", bar)) {
        time.dateTime = since;
        time.textContent = clock.format(new Date(since));
      }
    } catch {
      // The service itself is away, unless this page is being left.
      isPollLost = true;
    }
  }

  for (const bar of all("[data-outage]")) setInterval(() => askOutage(bar), OUTAGE_MS);

  prepare(document);
  if (document.querySelector("time[data-ago]")) setInterval(() => ago(document), 30_000);

  // On a narrow screen the navigation scrolls: show where one is.
  for (const current of all(".nav [aria-current], .tabs [aria-current]")) {
    const strip = current.parentElement;
    strip.scrollLeft = current.offsetLeft - (strip.clientWidth - current.clientWidth) / 2;
  }

  window.quita = Object.freeze({ all, shown, brief, day, clock, minute, Stream });
})();
