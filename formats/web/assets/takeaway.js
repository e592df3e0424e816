// The conversation in another shape; it is made anew while the conversation is edited.
const { say } = window.lab;
const [shape, model] = element.querySelectorAll("select");
const result = element.querySelector("[data-slot=result]");
const pre = element.querySelector("pre");
let number = 0;
let timer;

shape.replaceChildren(...[["", say("takeaway.choose")], ...Object.entries(props.names), ["jinja", say("takeaway.jinja")]].map(([value, words]) => new Option(words, value)));

// The models are those of the comparison; they are read from its picker when the list is opened.
function renew() {
  const chosen = model.value;
  const ids = [...document.querySelectorAll("#models .chips li span")].map((chip) => [chip.title, chip.textContent]);
  model.replaceChildren(new Option(say("takeaway.no_model"), ""), ...ids.map(([id, title]) => new Option(title, id)));
  model.value = ids.some(([id]) => id === chosen) ? chosen : "";
}

function ask() {
  if (!shape.value) { result.hidden = true; return; }
  number += 1;
  window.lab.questions.takeaway = { name: shape.value, model: model.value, number };
  trigger("input");
}

function apply() {
  const answer = props.value;
  if (!answer || answer.number !== number) return;
  element.querySelector("[data-slot=problem]").innerHTML = answer.problem ?? "";
  result.hidden = Boolean(answer.problem);
  if (answer.problem) return;
  pre.textContent = answer.text;
  pre.dataset.file = answer.file;
  element.querySelector("[data-slot=losses]").innerHTML = answer.losses ?? "";
}

function askSoon() {
  if (!shape.value) return;
  clearTimeout(timer);
  timer = setTimeout(ask, 500);
}

element.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-action]");
  if (button?.dataset.action === "copy") {
    await window.lab.copy(pre.textContent);
    button.textContent = say("action.copied");
    setTimeout(() => { button.textContent = say("action.copy"); }, 1500);
  }
  if (button?.dataset.action === "download") {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([pre.textContent], { type: "text/plain" }));
    link.download = pre.dataset.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
});
shape.addEventListener("change", ask);
model.addEventListener("change", ask);
model.addEventListener("focus", renew);
document.getElementById("panel").addEventListener("input", (event) => { if (!element.contains(event.target)) askSoon(); });
document.addEventListener("lab:edited", askSoon);

watch("value", apply);
renew();
