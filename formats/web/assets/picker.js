// A compact multi-select: chips of the chosen models, and one input that finds more or takes any id as it is typed.
const { say } = window.lab;
const MOST = props.most;
const chips = element.querySelector(".chips");
const count = element.querySelector(".picker-count");
const input = element.querySelector("input");
const list = element.querySelector("[role=listbox]");
let found = []; // [{id, title, about or word}], the options shown
let active = -1;
let timer;
let asked = 0; // searches, so that only the last one is answered
let answered = ""; // the text that `found` was found for

const chosen = () => props.value ?? [];

function choose(ids) {
  props.value = ids;
  draw();
  trigger("input");
}

function draw() {
  chips.replaceChildren(...chosen().map((id) => {
    const chip = document.createElement("li");
    const name = document.createElement("span");
    name.textContent = props.titles[id] ?? id;
    name.title = id;
    const remove = document.createElement("button");
    remove.type = "button";
    remove.textContent = "×";
    remove.setAttribute("aria-label", say("picker.remove", { model: props.titles[id] ?? id }));
    remove.addEventListener("click", () => {
      const index = chosen().indexOf(id);
      choose(chosen().filter((other) => other !== id));
      (chips.querySelectorAll("button")[Math.min(index, chosen().length - 1)] ?? input).focus();
    });
    chip.append(name, remove);
    return chip;
  }));
  count.textContent = say("picker.count", { n: chosen().length, most: MOST });
  input.disabled = chosen().length >= MOST;
  input.placeholder = say(input.disabled ? "picker.full" : "picker.form");
}

function add(id) {
  id = id.trim();
  close();
  input.value = "";
  if (id && !chosen().includes(id) && chosen().length < MOST) choose([...chosen(), id]);
}

// What is shown stands for what is typed: no search is waited for.
function settle() {
  clearTimeout(timer);
  asked += 1;
  answered = input.value;
}

function close() {
  settle();
  found = [];
  active = -1;
  list.hidden = true;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function open() {
  list.replaceChildren(...found.map((item, index) => {
    const option = document.createElement("li");
    option.id = "model-option-" + index;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", String(index === active));
    const title = document.createElement("b");
    title.textContent = item.title;
    const about = document.createElement("span");
    about.textContent = item.word ? say(item.word) : item.about;
    option.append(title, about);
    option.addEventListener("mousedown", (event) => { event.preventDefault(); add(item.id); });
    return option;
  }));
  list.hidden = found.length === 0;
  input.setAttribute("aria-expanded", String(found.length > 0));
  if (active >= 0) {
    input.setAttribute("aria-activedescendant", "model-option-" + active);
    list.children[active].scrollIntoView({ block: "nearest" });
  } else input.removeAttribute("aria-activedescendant");
}

// Whether the list shows what was found: not if it was asked anew or closed since.
async function search() {
  clearTimeout(timer);
  const query = input.value;
  const mine = ++asked;
  const answer = await server.search(query).catch(() => []);
  if (mine !== asked) return false;
  answered = query;
  found = answer.filter((item) => !chosen().includes(item.id));
  active = query.trim() && !/[/:]/.test(query) && found.length ? 0 : -1; // what Enter takes: a find, or an id as typed
  open();
  return true;
}

// Whoever types faster than it is searched gets what belongs to the whole word.
async function take() {
  if (answered === input.value || (await search())) add(active >= 0 ? found[active].id : input.value);
}

input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 100); });
input.addEventListener("focus", search);
input.addEventListener("blur", close);
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    settle();
    const step = event.key === "ArrowDown" ? 1 : -1;
    if (found.length) active = (active + step + found.length) % found.length;
    open();
  } else if (event.key === "Enter") {
    event.preventDefault();
    take();
  } else if (event.key === "Escape") close();
  else if (event.key === "Backspace" && !input.value && chosen().length) choose(chosen().slice(0, -1));
});

watch("value", draw);
draw();
