// The matrix of checks, and beside it the finding of the cell that was opened.
const matrix = element.querySelector("[data-slot=matrix]");
const aside = element.querySelector("[data-slot=finding]");
const line = element.querySelector(".progress");
let shown = 0; // number of the answer on the page
let html = null;
let opened = null; // the button whose finding is shown

function apply() {
  const answer = props.value;
  if (!answer || answer.number < shown) return;
  shown = answer.number;
  element.querySelector("[data-slot=problem]").innerHTML = answer.problem;
  if (answer.matrix !== null && answer.matrix !== html) {
    html = answer.matrix;
    const { scrollLeft, scrollTop } = matrix;
    matrix.innerHTML = html;
    matrix.scrollTo(scrollLeft, scrollTop);
    markOpened();
  }
  line.hidden = !answer.waiting;
  line.firstElementChild.max = answer.models;
  line.firstElementChild.value = answer.models - answer.waiting;
  line.lastElementChild.textContent = window.lab.say("scores.checked", { n: answer.models - answer.waiting, all: answer.models });
  if (answer.waiting) setTimeout(() => trigger("tick"), 300);
}

function markOpened() {
  matrix.querySelectorAll("button.cell").forEach((cell) => {
    const same = opened && cell.dataset.model === opened.model && cell.dataset.check === opened.check;
    cell.setAttribute("aria-expanded", String(Boolean(same)));
  });
}

async function open(model, check) {
  opened = { model, check };
  markOpened();
  const found = await server.finding([model, check]);
  if (opened?.model !== model || opened?.check !== check) return; // another cell was opened meanwhile
  aside.innerHTML = found;
  aside.hidden = false;
  element.querySelector(".split").classList.add("open");
  aside.scrollTop = 0;
  aside.querySelectorAll("pre.prompt").forEach((pre) => {
    const mark = pre.querySelector("mark");
    if (mark) pre.scrollTop = Math.max(0, mark.offsetTop - pre.offsetTop - 60);
  });
  aside.querySelector("h3")?.focus({ preventScroll: matchMedia("(min-width: 1000px)").matches });
}

function close() {
  const cell = opened && [...matrix.querySelectorAll("button.cell")].find(
    (button) => button.dataset.model === opened.model && button.dataset.check === opened.check);
  opened = null;
  aside.hidden = true;
  element.querySelector(".split").classList.remove("open");
  markOpened();
  cell?.focus();
}

async function download(model) {
  const text = await server.card(model);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  link.download = model.replace(/[^\w.-]+/g, "-") + ".md";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

element.addEventListener("click", (event) => {
  const cell = event.target.closest("button.cell");
  if (cell) open(cell.dataset.model, cell.dataset.check);
  if (event.target.closest("button.close")) close();
  const card = event.target.closest("button.card-download");
  if (card) download(card.dataset.model);
});
element.addEventListener("keydown", (event) => { if (event.key === "Escape" && opened) close(); });

watch("value", apply);
apply();
