// Three ways to tell one model of its tools; the picker stands in the answer, and edits ask anew while it is seen.
const ways = element.querySelector("[data-slot=ways]");
let number = 0;
let texts = {};
let timer;

function ask() { trigger("input"); }

function apply() {
  const answer = props.value;
  if (!answer || answer.number < number) return;
  number = answer.number;
  element.querySelector("[data-slot=problem]").innerHTML = answer.problem;
  if (answer.html === null) return;
  texts = answer.texts;
  const focused = element.contains(document.activeElement) && document.activeElement.matches("select");
  ways.innerHTML = answer.html;
  ways.querySelectorAll('[data-code="0"]').forEach((node) => { node.textContent = "\0"; });
  if (focused) ways.querySelector("select").focus();
}

function askSoon() {
  if (!element.offsetParent) return;
  clearTimeout(timer);
  timer = setTimeout(ask, 400);
}

element.addEventListener("change", (event) => {
  if (!event.target.matches("select")) return;
  window.lab.plain = event.target.value;
  ask();
});
element.addEventListener("click", (event) => {
  const use = event.target.closest("[data-use]");
  if (!use) return;
  const { messages, tools } = window.lab.editors;
  messages.replace(texts[use.dataset.use].messages);
  tools.replace(texts[use.dataset.use].tools);
  use.textContent = window.lab.say("plain.used");
});
document.addEventListener("lab:edited", askSoon);
document.getElementById("panel").addEventListener("input", askSoon);

watch("value", apply);
