// What the card editors share; each editor's own script follows it. The state is the JSON text of the code editor
// beside the cards: `items` is that text read, never changed in place, so that undo and "what has changed" are a
// comparison of references.
const { say } = window.lab;
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*/g; // texts, with the colon behind a key, and numbers
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const MARK = "\\u0000"; // before what JavaScript would change, as JSON spells it; before texts that begin with it, too

// JSON as it was written: numbers keep their digits (1.0, 12345678901234567890, 1e400) and keys their order.
function read(text) {
  return JSON.parse(text.replace(TOKENS, marked), (key, value) =>
    typeof value !== "string" || value[0] !== "\0" ? value : value[1] === "\0" ? value.slice(1) : new Digits(value.slice(1)));
}
function marked(token, colon) {
  if (token[0] !== '"') return NUMBER.test(token) && String(Number(token)) !== token ? '"' + MARK + token + '"' : token;
  const begins = token.startsWith(MARK, 1) || (colon && /^"\d+"/.test(token)); // keys of digits alone would be sorted
  return begins ? '"' + MARK + token.slice(1) : token;
}
const unmarked = (text) => text.replace(TOKENS, (token, colon) => (colon && token.startsWith(MARK, 1) ? '"' + token.slice(7) : token));
class Digits { // a number that JavaScript would write in another way
  constructor(source) { this.source = source; }
  toString() { return this.source; }
}
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Digits);
const isNumber = (value) => typeof value === "number" || value instanceof Digits;
const shown = (key) => key.replace("\0", "");

const WIDTH = 72; // as pretty.py lays JSON out
const texts = new WeakMap(); // item -> its text; an edit makes one new item and leaves the others
const write = (value) => unmarked(spread(value, 0));
const oneLine = (value) => unmarked(flat(value));
function flat(value) {
  if (Array.isArray(value)) return "[" + value.map(flat).join(", ") + "]";
  if (!isObject(value)) return value instanceof Digits ? value.source : JSON.stringify(value);
  return "{" + Object.entries(value).map(([key, item]) => JSON.stringify(key) + ": " + flat(item)).join(", ") + "}";
}
function spread(value, indent) {
  if (!isObject(value) && !Array.isArray(value)) return flat(value);
  const known = texts.get(value);
  if (known?.indent === indent) return known.text;
  const line = flat(value);
  const inner = " ".repeat(indent + 2);
  const open = indent + line.length > WIDTH && line.length > 2;
  const parts = !open ? [] : Array.isArray(value)
    ? value.map((item) => spread(item, indent + 2))
    : Object.entries(value).map(([key, item]) => JSON.stringify(key) + ": " + spread(item, indent + 2));
  const text = open ? line[0] + "\n" + inner + parts.join(",\n" + inner) + "\n" + " ".repeat(indent) + line.at(-1) : line;
  texts.set(value, { indent, text });
  return text;
}
const clone = (value) => read(write(value));

// The same object with one key set, left where it stands, or taken out (undefined).
function having(object, key, value) {
  if (value !== undefined) return { ...object, [key]: value };
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}
const renamed = (object, from, to) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));

// Elements. A property that is no property of the element is an attribute; "on..." are listeners.
function make(tag, given = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
function act(text, label, onclick, more = {}) {
  return make("button", { type: "button", textContent: text, "aria-label": label, title: label, onclick, ...more });
}
const SIZED = CSS.supports("field-sizing", "content");
function grow(area) {
  if (SIZED || !area.isConnected) return;
  area.style.height = "auto";
  area.style.height = area.scrollHeight + 2 + "px";
}
function area(label, value, oninput, more = {}) {
  const node = make("textarea", { rows: 1, value, "aria-label": label, spellcheck: false, ...more });
  node.addEventListener("input", () => { grow(node); oninput(node.value, node); });
  if (!SIZED) requestAnimationFrame(() => grow(node));
  return node;
}
// A text area for a JSON value: what cannot be read stays as it is typed, and goes no further.
function jsonArea(label, value, accept, set, more = {}) {
  const said = make("p", { className: "unread", hidden: true });
  const node = area(label, value === undefined ? "" : write(value), (text) => {
    let typed, wrong = "";
    try { if (text.trim()) typed = read(text); } catch { wrong = say("editor.unread"); }
    if (!wrong) wrong = accept(typed) ?? "";
    node.setAttribute("aria-invalid", String(Boolean(wrong)));
    said.hidden = !wrong;
    said.textContent = wrong;
    if (!wrong) set(typed);
  }, { className: "code", ...more });
  return make("div", { className: "json-area" }, node, said);
}
function choice(label, options, value, onchange, more = {}) {
  const node = make("select", { "aria-label": label, ...more });
  fillChoice(node, options, value);
  node.addEventListener("change", () => onchange(node.value, node));
  return node;
}
function fillChoice(node, options, value) {
  node.replaceChildren(...options.map(([name, words]) => make("option", { value: name, textContent: words })));
  node.value = value;
}

// The list of cards and its history. `card(item, node)` fills a node; `empty(text)` reads what is no list.
window.lab.editors ??= {};
function editor(name, { card, blank, one, changed = () => {} }) {
  const list = element.querySelector("[data-slot=cards]");
  const note = element.querySelector("[data-slot=note]");
  const undo = element.querySelector("[data-action=undo]");
  const view = element.querySelector("[data-slot=view]");
  const nodes = new Map(); // item -> its card
  const own = new Map(); // text that was written here -> when; it comes back from the code editor, maybe late
  let items = null; // null: there is no list
  let past = [];
  let stroke = { field: null, time: 0 };
  let timer;

  const self = {
    get items() { return items ?? []; },
    get isNull() { return items === null; },
    text: () => (items === null ? blank : write(items)),
    // Typing in one field is one step of undo while it does not pause.
    change(next, field = null) {
      const now = performance.now();
      if (field === null || field !== stroke.field || now - stroke.time > 1000) past.push(items);
      if (past.length > 200) past.shift();
      stroke = { field, time: now };
      items = next;
      undo.disabled = false;
      clearTimeout(timer);
      timer = setTimeout(flush, 60);
    },
    // One item for another in the same card, which is filled anew unless the edit shows in it already.
    put(node, item, field = null) {
      const old = node.item;
      self.change(self.items.with(self.items.indexOf(old), item), field);
      nodes.delete(old);
      nodes.set(item, node);
      node.item = item;
      if (field === null) fill(node);
    },
    refill: (node) => fill(node),
    insert(index, item, focus = "[data-first]") {
      self.change(self.items.toSpliced(index, 0, item));
      draw();
      const node = nodes.get(item);
      node.querySelector(focus)?.focus();
      node.scrollIntoView({ block: "nearest" });
    },
    remove(node) {
      const index = self.items.indexOf(node.item);
      self.change(self.items.toSpliced(index, 1));
      draw();
      (list.children[Math.min(index, self.items.length - 1)]?.querySelector("[data-action=remove]") ?? element.querySelector(".adders button")).focus();
    },
    move(node, step) {
      const from = self.items.indexOf(node.item);
      const to = from + step;
      if (to < 0 || to >= self.items.length) return;
      const focused = document.activeElement;
      self.change(self.items.toSpliced(from, 1).toSpliced(to, 0, node.item));
      draw();
      if (node.contains(focused)) focused.focus();
      node.scrollIntoView({ block: "nearest" });
    },
    buttons: (node) => make("span", { className: "card-buttons" },
      act("↑", say("editor.up"), () => self.move(node, -1)),
      act("↓", say("editor.down"), () => self.move(node, 1)),
      act("⧉", say("editor.duplicate"), () => self.insert(self.items.indexOf(node.item) + 1, clone(node.item))),
      act("×", say("editor.delete"), () => self.remove(node), { "data-action": "remove" })),
    // Text from elsewhere in place of all; it can be undone.
    replace(text) { take(text); flush(); },
  };

  function fill(node) {
    const focused = node.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    node.replaceChildren();
    card(node.item, node);
    if (focused) node.querySelector('[aria-label="' + CSS.escape(focused) + '"]')?.focus();
  }

  function draw() {
    const used = new Set(self.items);
    for (const [item, node] of nodes) if (!used.has(item)) { node.remove(); nodes.delete(item); }
    self.items.forEach((item, index) => {
      let node = nodes.get(item);
      if (!node) {
        node = make("li", { className: "edit-card" });
        node.item = item;
        nodes.set(item, node);
        fill(node);
      }
      if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null);
      const label = say(one, { n: index + 1 });
      if (node.ariaLabel !== label) node.ariaLabel = label;
    });
    undo.disabled = past.length === 0;
    changed(self);
  }

  function flush() {
    clearTimeout(timer);
    timer = undefined;
    const text = self.text();
    if (text === props.value) return;
    own.set(text, performance.now());
    props.value = text;
    trigger("input");
    document.dispatchEvent(new CustomEvent("lab:edited"));
    changed(self);
  }

  // Reads a text into cards; those whose message is the same as before stay as they are.
  function take(text) {
    let next = null;
    try {
      next = text.trim() ? read(text) : null;
      if (next !== null && !(Array.isArray(next) && next.every(isObject))) throw new Error("no list");
      note.hidden = true;
    } catch {
      if (note.hidden) past.push(items); // undo goes back to the last list
      undo.disabled = false;
      note.hidden = false;
      list.hidden = true;
      return;
    }
    list.hidden = false;
    if (next !== null) {
      const known = new Map([...nodes.keys()].map((item) => [write(item), item]));
      next = next.map((item) => {
        const same = known.get(write(item));
        known.delete(write(item));
        return same ?? item;
      });
    }
    const same = next?.length === items?.length && (next ?? []).every((item, index) => item === items[index]);
    if (!same) { past.push(items); stroke = { field: null, time: 0 }; items = next; }
    draw();
  }

  function back() {
    if (!past.length) return;
    clearTimeout(timer);
    items = past.pop();
    stroke = { field: null, time: 0 };
    note.hidden = true;
    list.hidden = false;
    draw();
    flush();
    undo.focus();
  }

  function show(which) {
    if (which === "json" && timer !== undefined) flush();
    view.dataset.view = which;
    element.querySelectorAll("[data-show]").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.show === which)));
    try { localStorage.setItem("lab.view." + name, which); } catch { /* a browser that stores nothing */ }
  }

  element.addEventListener("click", (event) => {
    const asked = event.target.closest("[data-show]");
    if (asked) show(asked.dataset.show);
    if (event.target.closest("[data-action=undo]")) back();
  });
  list.addEventListener("keydown", (event) => {
    const node = event.target.closest(".edit-card");
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      self.move(node, event.key === "ArrowUp" ? -1 : 1);
    } else if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.target.matches("textarea, input")) {
      event.preventDefault();
      back();
    }
  });
  watch("value", () => {
    const now = performance.now();
    for (const [text, time] of own) if (now - time > 2000) own.delete(text);
    if (own.has(props.value)) setTimeout(settle, 400);
    else settle();
  });
  function settle() {
    if (timer === undefined && (props.value ?? "") !== self.text()) take(props.value ?? "");
  }
  window.lab.editors[name] = self;
  let stored = null;
  try { stored = localStorage.getItem("lab.view." + name); } catch { /* likewise */ }
  show(stored === "json" ? "json" : "cards");
  self.start = () => { take(props.value ?? ""); past = []; undo.disabled = true; };
  return self;
}
