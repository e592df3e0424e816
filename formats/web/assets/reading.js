// Places what was read; a problem keeps the last reading on the page.
let shown = 0; // number of the answer on the page

function apply() {
  const answer = props.value;
  if (!answer || answer.number < shown) return;
  shown = answer.number;
  element.querySelector("[data-slot=problem]").innerHTML = answer.problem;
  if (answer.reading !== null) element.querySelector("[data-slot=reading]").innerHTML = answer.reading;
}

element.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy-message");
  if (!button) return;
  await window.lab.copy(element.querySelector("pre.message").textContent);
  button.textContent = window.lab.say("action.copied");
  setTimeout(() => { button.textContent = window.lab.say("action.copy"); }, 1500);
});

watch("value", apply);
apply();
