// Sends what was pasted, and shows what it was taken for; the server's answer fills the editors at the same time.
const area = element.querySelector("textarea");
const slot = element.querySelector("[data-slot=answer]");
let number = 0;

function load() {
  number += 1;
  window.lab.questions.paste = { text: area.value, number };
  trigger("input");
}

function apply() {
  const answer = props.value;
  if (answer && "html" in answer && answer.number === number) slot.innerHTML = answer.html;
}

element.addEventListener("click", (event) => {
  const action = event.target.closest("[data-action]")?.dataset.action;
  if (action === "load") load();
  if (action === "sample") { area.value = props.sample; area.focus(); }
  if (action === "read") window.lab.openTab("read")?.focus();
});
area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) load(); });

watch("value", apply);
