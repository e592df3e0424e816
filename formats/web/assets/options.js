// Controls for what the chosen templates read. The state is the JSON of the kwargs editor below; a control writes its
// own key there and leaves the others. Its value is {"kwargs": text} from here, or an answer of the server.
const rows = element.querySelector("[data-slot=rows]");
const idle = element.querySelector("[data-slot=idle]");
let options = [];
let kwargs = {}; // null: the JSON cannot be read as it stands
let answered = 0;
let drawn = "";

function set(name, value) {
  kwargs = having(kwargs ?? {}, name, value);
  props.value = { kwargs: Object.keys(kwargs).length ? write(kwargs) : "" };
  trigger("input");
  document.dispatchEvent(new CustomEvent("lab:edited"));
  draw();
}

function control(option) {
  const value = kwargs[option.name];
  const label = option.name;
  if (option.kind === "switch" && (value === undefined || typeof value === "boolean")) {
    return choice(label, [["", say("controls.not_given")], ["true", "true"], ["false", "false"]], value === undefined ? "" : String(value),
      (text) => set(option.name, text ? text === "true" : undefined));
  }
  if (option.kind === "text" && (value === undefined || typeof value === "string")) {
    return make("input", { type: "text", value: value ?? "", placeholder: say("controls.not_given"), "aria-label": label, spellcheck: false,
      oninput: (event) => set(option.name, event.target.value || undefined) });
  }
  return jsonArea(label, value, () => null, (given) => set(option.name, given), { placeholder: say("controls.json_hint") });
}

function draw() {
  const useful = options.filter((option) => option.effect.length);
  const layout = JSON.stringify([useful, kwargs === null, useful.map((option) => kwargs && kind(kwargs[option.name]))]);
  if (layout !== drawn) {
    drawn = layout;
    rows.replaceChildren(...(kwargs === null ? [] : useful.map((option) => {
      const models = option.effect.join(", ");
      const others = option.idle.join(", ");
      return make("div", { className: "option-row" }, make("code", {}, option.name), control(option),
        make("span", { className: "option-about", title: say("controls.effect", { models }) }, say(others ? "controls.changes_some" : "controls.changes", { models, others })));
    })));
  } else if (kwargs) {
    for (const option of useful) {
      const node = rows.querySelector('[aria-label="' + CSS.escape(option.name) + '"]');
      const value = kwargs[option.name];
      if (node && node !== document.activeElement) node.value = value === undefined ? "" : node.matches(".code") ? write(value) : String(value);
    }
  }
  const rest = options.filter((option) => !option.effect.length);
  idle.hidden = rest.length === 0;
  idle.firstElementChild.textContent = say("controls.idle", { n: rest.length });
  idle.lastElementChild.textContent = rest.map((option) => option.name + " (" + option.idle.join(", ") + ")").join("; ");
}
const kind = (value) => (value === undefined ? "" : isNumber(value) ? "number" : typeof value);

window.lab.kwargs = (text) => {
  try {
    const given = text?.trim() ? read(text) : {};
    kwargs = isObject(given) ? given : null;
  } catch { kwargs = null; }
  draw();
};

watch("value", () => {
  const answer = props.value;
  if (!answer?.options || answer.number < answered) return;
  answered = answer.number;
  options = answer.options;
  if (answer.waiting) setTimeout(() => trigger("tick"), 600);
  draw();
});
