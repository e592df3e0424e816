// Puts the parts of the server's answer where they belong. A card whose HTML did not change is not touched, and one
// that did keeps its place: scrolling and open details stay as the reader left them.
const { say } = window.lab;
const grid = element.querySelector("[data-slot=cards]");
const spaces = element.querySelector("[data-action=spaces]");
const cards = new Map(); // key -> {node, html}
const ratings = new Map(); // key -> HTML; verdicts come after the prompts and outlive every edit
let shown = 0; // number of the answer on the page

function apply() {
  const answer = props.value;
  if (!answer || answer.number < shown) return;
  shown = answer.number;
  if (answer.waiting) setTimeout(() => trigger("tick"), 300);
  for (const [field, html] of Object.entries(answer.problems)) {
    for (const slot of document.querySelectorAll(`[data-problem="${field}"]`)) slot.innerHTML = html;
  }
  const stale = answer.cards === null;
  element.toggleAttribute("data-stale", stale && cards.size > 0);
  if (stale) grid.querySelectorAll(":scope > .skeleton").forEach((node) => node.remove()); // nothing is on its way
  if (!stale) {
    element.querySelector("[data-slot=summary]").innerHTML = answer.summary;
    placeCards(answer.cards);
    if (!answer.waiting) rate();
    showProgress(answer.cards.length - answer.waiting, answer.cards.length);
  }
}

// Asks for the verdicts that are missing, once the prompts stand, and again while some are being made.
let rating = false;
async function rate() {
  const missing = [...cards.keys()].filter((key) => !ratings.has(key));
  if (rating || !missing.length) return;
  rating = true;
  const answer = await server.ratings(missing).catch(() => ({ ratings: {}, waiting: 0 }));
  rating = false;
  for (const [key, html] of Object.entries(answer.ratings)) {
    ratings.set(key, html);
    const card = cards.get(key);
    if (card) showRating(card.node, key);
  }
  if (answer.waiting) setTimeout(rate, 600);
}

function showRating(node, key) {
  const slot = node.querySelector(".rating");
  if (slot && ratings.has(key)) slot.innerHTML = ratings.get(key);
}

function showProgress(ready, all) {
  const line = element.querySelector(".progress");
  line.hidden = ready === all;
  line.firstElementChild.max = all;
  line.firstElementChild.value = ready;
  line.lastElementChild.textContent = say("answer.ready", { n: ready, all });
}

function placeCards(entries) {
  const keys = new Set(entries.map(([key]) => key));
  for (const [key, card] of cards) {
    if (!keys.has(key)) { card.node.remove(); cards.delete(key); }
  }
  grid.querySelectorAll(":scope > .skeleton").forEach((node) => node.remove());
  entries.forEach(([key, html], index) => {
    let card = cards.get(key);
    if (!card) {
      card = { node: document.createElement("article"), html: null };
      card.node.className = "card";
      card.node.dataset.model = key;
      cards.set(key, card);
    }
    if (grid.children[index] !== card.node) grid.insertBefore(card.node, grid.children[index] ?? null);
    if (card.html !== html) fill(card, html);
  });
}

function fill(card, html) {
  const before = card.node.querySelector("pre.prompt");
  const top = before?.scrollTop ?? 0;
  const open = card.node.querySelector("details.source")?.open ?? false;
  const focused = before !== null && document.activeElement === before;
  card.html = html;
  card.node.innerHTML = html;
  showRating(card.node, card.node.dataset.model);
  // HTML cannot hold NUL; the DOM can, and the prompt is copied out of the DOM.
  card.node.querySelectorAll('[data-code="0"]').forEach((node) => { node.textContent = "\0"; });
  card.node.querySelector("details.source")?.toggleAttribute("open", open);
  const pre = card.node.querySelector("pre.prompt");
  if (!pre) return;
  if (spacesShown()) sight.observe(pre);
  pre.scrollTop = top;
  sized.observe(pre);
  if (focused) pre.focus({ preventScroll: true });
}

// "Expand" is offered where a prompt is longer than its card shows; behind another tab it has no length yet.
const sized = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target.isConnected) showExpand(target.closest(".card"), target);
});

function showExpand(node, pre) {
  const button = node.querySelector("button.expand");
  const expanded = node.hasAttribute("data-expanded");
  button.hidden = !expanded && pre.scrollHeight <= pre.clientHeight + 2;
  button.textContent = say(expanded ? "card.collapse" : "card.expand");
  button.setAttribute("aria-label", say(expanded ? "card.collapse_of" : "card.expand_of", { title: button.dataset.title }));
  button.setAttribute("aria-expanded", String(expanded));
}

const spacesShown = () => spaces.getAttribute("aria-pressed") === "true";

// A prompt of 100 KB has twenty thousand spaces: they are marked when the prompt comes into view.
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    sight.unobserve(entry.target);
    markSpaces(entry.target);
  }
}, { rootMargin: "200px" });

// White space is wrapped, never replaced: what is selected or copied stays the prompt.
function markSpaces(pre) {
  const walker = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) if (/[ \n\t]/.test(walker.currentNode.data)) nodes.push(walker.currentNode);
  for (const node of nodes) {
    const pieces = node.data.split(/( +|\n|\t)/).filter(Boolean).map((piece) => {
      if (!/^[ \n\t]/.test(piece)) return document.createTextNode(piece);
      const mark = document.createElement("span");
      mark.className = piece === "\n" ? "ws line" : piece === "\t" ? "ws tab" : "ws space";
      mark.textContent = piece;
      return mark;
    });
    node.replaceWith(...pieces);
  }
}

spaces.addEventListener("click", () => {
  spaces.setAttribute("aria-pressed", String(!spacesShown()));
  sight.disconnect();
  for (const card of cards.values()) fill(card, card.html);
});

element.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (button) {
    await window.lab.copy(button.closest(".card").querySelector("pre.prompt").textContent);
    button.textContent = say("action.copied");
    setTimeout(() => { button.textContent = say("action.copy"); }, 1500);
  }
  const expand = event.target.closest("button.expand");
  if (expand) {
    const node = expand.closest(".card");
    node.toggleAttribute("data-expanded");
    showExpand(node, node.querySelector("pre.prompt"));
  }
  const jump = event.target.closest("button.jump");
  if (jump) {
    const node = cards.get(jump.dataset.model)?.node;
    node?.scrollIntoView({ block: "start" });
    node?.querySelector("pre.prompt, .answer")?.focus({ preventScroll: true });
  }
});

watch("value", apply);
apply();
