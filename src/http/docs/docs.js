// Shows /openapi.json. Every text goes into the page as text, never as markup.
"use strict";

const MAX_DEPTH = 3;
/** Longer patterns help a program, not a reader. */
const LONGEST_PATTERN = 40;
const METHODS = ["get", "post", "put", "patch", "delete"];
let api;

/** An element with attributes and children; texts become text nodes, `null` is left out. */
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** What a `$ref` points to, with what stands beside it. */
function resolve(node) {
  if (!node || !node.$ref) return node;
  const { $ref, ...beside } = node;
  const found = $ref.slice(2).split("/").reduce((at, name) => at[name], api);
  return { ...resolve(found), ...beside };
}

/* ---- text: the little Markdown that the description uses ---- */

/** `code` and **strong** within a line. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean).map((part) => {
    if (part.startsWith("`")) return el("code", null, part.slice(1, -1));
    if (part.startsWith("**")) return el("strong", null, part.slice(2, -2));
    return part;
  });
}

function cells(line) {
  return line.split("|").slice(1, -1).map((cell) => cell.trim());
}

/** A block between blank lines: heading, list, table or paragraph. */
function block(text) {
  const lines = text.split("\n");
  if (text.startsWith("## ")) return el("h3", null, inline(text.slice(3)));
  if (text.startsWith("- ")) return el("ul", null, lines.map((line) => el("li", null, inline(line.slice(2)))));
  if (text.startsWith("|")) {
    const [head, , ...rows] = lines;
    return el("table", { class: "plain" },
      el("thead", null, el("tr", null, cells(head).map((cell) => el("th", { scope: "col" }, inline(cell))))),
      el("tbody", null, rows.map((row) => el("tr", null, cells(row).map((cell) => el("td", null, inline(cell)))))));
  }
  return el("p", null, inline(text));
}

function rich(text) {
  return text ? el("div", { class: "rich" }, text.split(/\n\n+/).map(block)) : null;
}

/* ---- fields ---- */

function isNull(schema) {
  return schema.type === "null";
}

/** The schema behind "this or null", and whether null is allowed. */
function withoutNull(given) {
  const schema = resolve(given);
  if (schema.oneOf && schema.oneOf.some(isNull)) {
    const { oneOf, ...beside } = schema;
    const rest = oneOf.filter((one) => !isNull(one));
    if (rest.length === 1) return { schema: { ...resolve(rest[0]), ...beside }, nullable: true };
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== "null");
    return { schema: { ...schema, type: types.length === 1 ? types[0] : types }, nullable: types.length < schema.type.length };
  }
  return { schema, nullable: false };
}

function typeName(given) {
  const { schema, nullable } = withoutNull(given);
  let name = schema.type || "value";
  if ("const" in schema && !schema.type) name = "constant";
  if (schema.type === "array") name = `array of ${typeName(schema.items || {})}`;
  if (!schema.type && schema.oneOf) name = schema.oneOf.map((one) => typeName(one)).join(" or ");
  if (schema.format) name += ` (${schema.format})`;
  return nullable ? `${name} or null` : name;
}

/** Minimum, maximum, pattern and the like, in words. */
function rules(schema) {
  const found = [];
  const range = (low, high, unit) => {
    if (low !== undefined && high !== undefined) found.push(`${low} – ${high}${unit}`);
    else if (low !== undefined) found.push(`at least ${low}${unit}`);
    else if (high !== undefined) found.push(`at most ${high}${unit}`);
  };
  range(schema.minimum, schema.maximum, "");
  if (schema.exclusiveMinimum !== undefined) found.push(`more than ${schema.exclusiveMinimum}`);
  range(schema.minLength, schema.maxLength, " characters");
  range(schema.minItems, schema.maxItems, " entries");
  range(schema.minProperties, schema.maxProperties, " entries");
  if (schema.const !== undefined) found.push(`always ${JSON.stringify(schema.const)}`);
  if (schema.enum) found.push(schema.enum.filter((value) => value !== null).join(", "));
  if (schema.default !== undefined) found.push(`default ${JSON.stringify(schema.default)}`);
  if (schema.pattern && schema.pattern.length <= LONGEST_PATTERN) found.push(schema.pattern);
  if (schema.examples) found.push(`such as ${schema.examples.join(", ")}`);
  return found.join(" · ");
}

function fieldRow(name, given, isRequired, depth) {
  const { schema } = withoutNull(given);
  const limits = rules(schema);
  return el("tr", { class: `depth-${Math.min(depth, MAX_DEPTH)}` },
    el("td", { class: "name" }, name, isRequired ? el("span", { class: "must" }, "required") : null),
    el("td", { class: "type" }, limits ? `${typeName(given)} · ${limits}` : typeName(given)),
    el("td", { class: "says" }, schema.description ? el("p", null, inline(schema.description)) : null));
}

/** Rows for the fields of an object, those of the objects in it indented below. */
function fieldRows(given, depth, marksRequired) {
  const { schema } = withoutNull(given);
  const inside = schema.type === "array" ? withoutNull(schema.items || {}).schema : schema;
  if (!inside.properties || depth > MAX_DEPTH) return [];
  const required = new Set(inside.required || []);
  return Object.entries(inside.properties).flatMap(([name, property]) => [
    fieldRow(name, property, marksRequired && required.has(name), depth),
    ...fieldRows(property, depth + 1, marksRequired),
  ]);
}

function fieldTable(rows) {
  return el("table", { class: "fields" },
    el("thead", null, el("tr", null, ["Name", "Type", "Meaning"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", null, rows));
}

function parameterTable(title, parameters) {
  if (parameters.length === 0) return null;
  const rows = parameters.map((parameter) => {
    const schema = { ...resolve(parameter.schema || {}) };
    if (parameter.description) schema.description = parameter.description;
    return fieldRow(parameter.name, schema, parameter.required, 0);
  });
  return el("div", null, el("h4", null, title), fieldTable(rows));
}

/* ---- code ---- */

async function copyText(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without a secure context there is no clipboard: select the text and ask the browser.
    const range = document.createRange();
    range.selectNodeContents(shown);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}

/** A dark box with a title or a choice, the text, and a button that copies it. */
function screen(label, choices) {
  const shown = el("pre", { tabindex: "0" }, choices[0].text);
  const button = el("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(shown.textContent, shown)) ? "Copied" : "Press Ctrl-C";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  let title = el("span", null, choices.length === 1 && choices[0].name ? `${label}: ${choices[0].name}` : label);
  if (choices.length > 1) {
    title = el("select", { "aria-label": label }, choices.map(({ name }) => el("option", null, `${label}: ${name}`)));
    title.addEventListener("change", () => { shown.textContent = choices[title.selectedIndex].text; });
  }
  return el("div", { class: "screen" }, el("div", null, title, button), shown);
}

/** JSON on few lines: what fits stays together. */
function pretty(value, indent = "") {
  const flat = JSON.stringify(value, null, 1).replace(/\n\s*/g, " ").replace(/([[{]) (?=[\]}])/g, "$1");
  if (value === null || typeof value !== "object" || flat.length + indent.length <= 64) return flat;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((entry) => inner + pretty(entry, inner))
    : Object.entries(value).map(([name, entry]) => `${inner}${JSON.stringify(name)}: ${pretty(entry, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${parts.join(",\n")}\n${indent}${close}`;
}

function examplesOf(content) {
  const media = content && content["application/json"];
  const examples = Object.values((media && media.examples) || {}).map(resolve);
  return examples.map(({ summary, value }) => ({ name: summary || "", value }));
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A line for the shell, with the key taken from QUITA_KEY. */
function curl({ method, path, operation, parameters }, body) {
  const example = (name) => parameters.find((one) => one.in === "path" && one.name === name);
  const address = path.replace(/\{(\w+)\}/g, (_, name) => (example(name) || {}).example || name.toUpperCase());
  const base = new URL(".", window.location.href).href.replace(/\/$/, "");
  const lines = [`curl ${base}${address}`];
  if (method !== "get") lines[0] = `curl -X ${method.toUpperCase()} ${base}${address}`;
  const security = operation.security || api.security || [];
  if (security.some((one) => "apiKey" in one)) lines.push('-H "Authorization: Bearer $QUITA_KEY"');
  for (const header of parameters.filter((one) => one.in === "header")) {
    const value = header.example || (header.required ? "…" : null);
    if (value) lines.push(`-H ${quoted(`${header.name}: ${value}`)}`);
  }
  if (body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(pretty(body))}`);
  return lines.join(" \\\n  ");
}

function curlScreen(entry) {
  const bodies = examplesOf((resolve(entry.operation.requestBody) || {}).content);
  const choices = bodies.length > 0
    ? bodies.map(({ name, value }) => ({ name, text: curl(entry, value) }))
    : [{ name: "", text: curl(entry) }];
  return screen("curl", choices);
}

/* ---- operations ---- */

function answer(status, given) {
  const response = resolve(given);
  const content = response.content || {};
  const media = content["application/json"];
  const headers = Object.entries(response.headers || {}).map(([name, header]) => ({ name, ...resolve(header) }));
  const isGood = status.startsWith("2");
  const rows = media && media.schema ? fieldRows(media.schema, 0, false) : [];
  const others = Object.keys(content).filter((kind) => kind !== "application/json");
  const examples = examplesOf(content).map(({ name, value }) => ({ name, text: pretty(value) }));
  return el("details", { class: "answer" },
    el("summary", null, el("span", { class: `status ${isGood ? "good" : ""}` }, status), el("span", null, inline(response.description))),
    el("div", null,
      others.length > 0 ? el("p", { class: "type" }, others.join(", ")) : null,
      parameterTable("Headers", headers),
      rows.length > 0 ? el("details", { class: "inner" }, el("summary", null, "Fields"), fieldTable(rows)) : null,
      examples.length > 0 ? screen("Body", examples) : null));
}

/** The schemas that a body can have, by the value that tells them apart; one without a name if there is no choice. */
function variants(given) {
  const schema = resolve(given);
  const { mapping } = schema.discriminator || {};
  if (!mapping) return [{ name: "", schema }];
  return Object.entries(mapping).map(([name, $ref]) => ({ name, schema: resolve({ $ref }) }));
}

function bodyPart(operation) {
  const body = resolve(operation.requestBody);
  const media = body && body.content["application/json"];
  if (!media) return null;
  const { description } = resolve(media.schema);
  const choices = variants(media.schema);
  const tables = choices.map(({ name, schema }, index) => {
    const table = fieldTable(fieldRows(schema, 0, true));
    if (!name) return table;
    const summary = el("summary", null, el("code", null, name), ` ${schema.description || ""}`);
    return el("details", index === 0 ? { open: "" } : null, summary, table);
  });
  return el("div", null,
    el("h4", null, body.required ? "Body" : "Body (may be left out)"),
    choices.length > 1 && description ? el("p", { class: "says" }, inline(description)) : null,
    tables);
}

function scopeLine(operation) {
  const security = operation.security || api.security || [];
  if (security.length === 0) return null;
  const scopes = security.flatMap((one) => one.apiKey || []);
  const text = scopes.length > 0 ? ["Scope ", el("code", null, scopes.join(" "))] : ["Signed by the acquirer"];
  return el("p", { class: "scope" }, text);
}

/** The created before its replay, then as the numbers go. */
function rank([status]) {
  return status === "201" ? 199 : Number.parseInt(status, 10) || 999;
}

function operationPart(entry) {
  const { id, method, path, operation, parameters, isHook } = entry;
  const of = (place) => parameters.filter((parameter) => parameter.in === place);
  const bodies = examplesOf((resolve(operation.requestBody) || {}).content);
  const code = isHook
    ? screen("Body", bodies.map(({ name, value }) => ({ name, text: pretty(value) })))
    : curlScreen(entry);
  return el("article", { class: "operation", id },
    el("h3", null, el("a", { href: `#${id}` }, operation.summary)),
    el("p", { class: "address" },
      el("span", { class: `method ${isHook ? "hook" : method}` }, method.toUpperCase()),
      el("span", null, isHook ? "your postbackUrl" : path)),
    isHook ? null : scopeLine(operation),
    rich(operation.description),
    el("div", { class: "parts wide" },
      el("div", { class: "words" },
        parameterTable("Path", of("path")),
        parameterTable("Query", of("query")),
        parameterTable("Headers", of("header")),
        bodyPart(operation),
        el("div", null, el("h4", null, isHook ? "What you answer" : "Answers"),
          Object.entries(operation.responses)
            .sort((one, other) => rank(one) - rank(other))
            .map(([status, response]) => answer(status, response)))),
      el("div", { class: "code" }, code)));
}

/** Every operation and webhook in the order of the document. */
function entries() {
  const of = (items, isHook) => Object.entries(items || {}).flatMap(([path, item]) =>
    Object.keys(item).filter((key) => METHODS.includes(key)).map((method) => {
      const operation = item[method];
      const parameters = [...(item.parameters || []), ...(operation.parameters || [])].map(resolve);
      return { id: operation.operationId, method, path, operation, parameters, isHook };
    }));
  return [...of(api.paths, false), ...of(api.webhooks, true)];
}

/* ---- the page ---- */

function navigation(groups) {
  const filter = el("input", { type: "search", placeholder: "Find an operation", "aria-label": "Find an operation" });
  const parts = groups.map(({ tag, operations }) => el("div", null,
    el("h4", null, tag.name),
    el("ul", null, operations.map(({ id, method, operation, path, isHook }) =>
      el("li", { "data-words": `${operation.summary} ${path} ${id}`.toLowerCase() },
        el("a", { href: `#${id}` },
          el("span", { class: `method ${isHook ? "hook" : method}` }, isHook ? "HOOK" : method.toUpperCase()),
          operation.summary))))));
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const part of parts) {
      const items = [...part.querySelectorAll("li")];
      for (const item of items) item.hidden = !item.dataset.words.includes(wanted);
      part.hidden = items.every((item) => item.hidden);
    }
  });
  return [filter, ...parts];
}

/** Marks in the navigation what is being read. */
function follow(nav) {
  const links = new Map([...nav.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver((seen) => {
    const first = seen.find((one) => one.isIntersecting);
    if (!first) return;
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(first.target.id).setAttribute("aria-current", "true");
  }, { rootMargin: "-20% 0px -75% 0px" });
  for (const id of links.keys()) observer.observe(document.getElementById(id));
}

function show() {
  const all = entries();
  const groups = api.tags
    .map((tag) => ({ tag, operations: all.filter(({ operation }) => operation.tags.includes(tag.name)) }))
    .filter(({ operations }) => operations.length > 0);
  const nav = document.getElementById("nav");
  nav.append(...navigation(groups));
  document.getElementById("main").replaceChildren(
    el("div", { id: "top" }, el("h1", null, api.info.title),
      el("p", { class: "meta" }, `Version ${api.info.version} · OpenAPI ${api.openapi} · ${api.info.license.name}`),
      rich(api.info.description)),
    ...groups.map(({ tag, operations }) => el("section", { id: tag.name.toLowerCase().replaceAll(" ", "-") },
      el("h2", null, tag.name), rich(tag.description), operations.map(operationPart))));
  follow(nav);
  const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
  if (target) target.scrollIntoView();
}

function wireMenu() {
  const [menu, nav] = [document.getElementById("menu"), document.getElementById("nav")];
  const set = (isOpen) => {
    nav.classList.toggle("open", isOpen);
    menu.setAttribute("aria-expanded", String(isOpen));
  };
  menu.addEventListener("click", () => {
    set(!nav.classList.contains("open"));
    if (nav.classList.contains("open")) window.scrollTo(0, 0);
  });
  nav.addEventListener("click", (event) => { if (event.target.closest("a")) set(false); });
}

async function start() {
  wireMenu();
  try {
    const response = await fetch("openapi.json");
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    api = await response.json();
    show();
  } catch (error) {
    const state = document.getElementById("state");
    if (state) state.textContent = `The description of the API could not be shown: ${error.message}`;
    throw error;
  }
}

start();
