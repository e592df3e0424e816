// Warnings go to the places they speak of; a remedy shows what it would change before it is applied.
const box = element.querySelector("[data-slot=diff]");
let shown = 0; // number of the answer on the page
let remedy = null; // the messages that the shown remedy makes, and those that it was made for
let opener = null;
const placed = new Map(); // slot -> the HTML in it

function place(slot, html) {
  if (!slot || placed.get(slot) === html) return;
  placed.set(slot, html);
  slot.innerHTML = html;
}

function apply() {
  const answer = props.value;
  if (!answer || answer.number < shown) return;
  shown = answer.number;
  for (const [field, html] of Object.entries(answer.warnings)) place(document.querySelector('[data-warnings="' + field + '"]'), html);
  place(element.querySelector("[data-slot=fixes]"), answer.fixes);
}

async function open(button) {
  const { messages, tools } = window.lab.editors;
  const text = messages.text();
  const answer = await server.fix([button.dataset.fix, text, tools.text()]);
  opener = button.dataset.fix;
  remedy = answer.problem ? null : { text: answer.messages, from: text };
  element.querySelector("[data-slot=diff-text]").innerHTML = answer.problem ?? answer.diff;
  box.hidden = false;
  const accept = element.querySelector("[data-action=apply]");
  accept.disabled = remedy === null;
  (remedy ? accept : element.querySelector("[data-action=cancel]")).focus();
}

function close() {
  box.hidden = true;
  remedy = null;
  (document.querySelector('[data-fix="' + opener + '"]') ?? document.querySelector("#messages-cards [data-action=undo]:enabled"))?.focus();
}

// A tab by its id; on a narrow screen it stands in the menu of those that have no room, which knows names only.
window.lab.openTab = (id) => {
  const name = window.lab.say("tabs." + id);
  const tab = [...document.querySelectorAll("#results [role=tab], #results .overflow-dropdown button")].find((one) => one.textContent.trim() === name);
  tab?.click();
  return tab;
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fix]");
  if (button) open(button);
  const tell = event.target.closest("[data-plain]");
  if (!tell) return;
  window.lab.plain = tell.dataset.plain; // the model that the tab shows
  window.lab.openTab("plain")?.focus();
});
element.addEventListener("click", (event) => {
  if (event.target.closest("[data-action=apply]") && remedy) {
    const { messages } = window.lab.editors;
    if (messages.text() === remedy.from) messages.replace(remedy.text);
    close();
  }
  if (event.target.closest("[data-action=cancel]")) close();
});
box.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });

watch("value", apply);
apply();
