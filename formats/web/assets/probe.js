// The probe set's report: a table whose cells are bars on one scale, and every raw output behind it, placed as text.
const slot = (name) => element.querySelector(`[data-slot=${name}]`);
const { say, numeral } = window.lab;
const SCORES = ["parsed", "valid", "right_tool", "right_arguments"];
let run = null;
let items = 0;

function make(tag, css, text) {
  const node = document.createElement(tag);
  if (css) node.className = css;
  if (text !== undefined) node.textContent = text;
  return node;
}

function apply() {
  const state = props.value;
  if (!state) return;
  if (state.run !== run) {
    if (state.run !== window.lab.run) return;
    run = state.run;
    items = 0;
    slot("report").replaceChildren();
  }
  element.querySelector(".probe-page").dataset.state = state.state;
  slot("problem").hidden = !state.problem;
  slot("problem").textContent = state.problem;
  const line = element.querySelector(".progress");
  line.hidden = state.state === "done";
  line.firstElementChild.max = state.of;
  line.firstElementChild.value = state.done;
  const words = Array.isArray(state.words) ? say(...state.words) : state.words;
  line.lastElementChild.textContent = say("probe.done", { n: state.done, all: state.of }) + (words ? " · " + words : "");
  if (state.report && state.report.items.length !== items) show(state.report);
}

function show(report) {
  const open = new Set([...element.querySelectorAll("details.probe-item[open]")].map((node) => node.dataset.key));
  items = report.items.length;
  const bar = make("div", "toolbar");
  bar.append(make("h2", "", say(report.examples ? "probe.title" : "probe.title_bare", { n: report.prompts, seed: String(report.seed) })));
  for (const [name, write] of [["JSON", asJson], ["CSV", asCsv]]) {
    const button = make("button", "", say("probe.export", { kind: name }));
    button.type = "button";
    button.addEventListener("click", () => save(`probe-set.${name.toLowerCase()}`, write(report)));
    bar.append(button);
  }
  slot("report").replaceChildren(bar, table(report), ...report.items.map((item) => itemNode(item, open)));
}

function table(report) {
  const node = make("table", "probe-table");
  const caption = make("caption", "unseen", say("probe.about"));
  const head = make("tr");
  for (const title of ["style", ...SCORES, "prompt_tokens", "output_tokens"]) {
    const cell = make("th", "", say("probe." + title));
    cell.scope = "col";
    head.append(cell);
  }
  node.append(caption, make("thead"), make("tbody"));
  node.tHead.append(head);
  for (const row of report.rows) {
    const line = make("tr");
    const name = make("th", "", say("way." + row.style));
    name.scope = "row";
    line.append(name);
    for (const score of SCORES) {
      const cell = make("td", "probe-score");
      const track = make("span", "probe-track");
      const fill = make("i");
      fill.style.width = `${row.prompts ? 100 * row[score] / row.prompts : 0}%`;
      track.append(fill);
      cell.append(track, make("b", "", say("probe.done", { n: row[score], all: row.prompts })));
      line.append(cell);
    }
    for (const count of [row.prompt_tokens, row.tokens]) line.append(make("td", "number", numeral(count)));
    node.tBodies[0].append(line);
  }
  const scroll = make("div", "probe-scroll");
  scroll.append(node);
  return scroll;
}

function itemNode(item, open) {
  const node = make("details", "probe-item");
  node.dataset.key = item.style + item.question;
  node.open = open.has(node.dataset.key);
  const best = SCORES.filter((score) => item[score]).pop();
  const verdict = item.problem || say("probe." + (best ?? "no_call"));
  const summary = make("summary");
  summary.append(make("span", best === "right_arguments" ? "mark good" : "mark told", verdict), ` ${item.style} · ${item.question}`);
  const raw = make("pre", "prompt", item.raw);
  raw.tabIndex = 0;
  raw.setAttribute("role", "region");
  raw.setAttribute("aria-label", say("probe.raw"));
  node.append(summary, make("p", "settings", say("probe.wanted", { call: item.wanted.name + " " + JSON.stringify(item.wanted.arguments), n: item.tokens })), raw);
  return node;
}

const asJson = (report) => JSON.stringify(report, null, 2);

function asCsv(report) {
  const fields = ["style", "question", ...SCORES, "prompt_tokens", "tokens", "seconds", "stop_reason", "raw"];
  // A cell that a spreadsheet would take for a formula is made text.
  const cell = (value) => `"${String(value ?? "").replace(/^([=+\-@\t\r])/, "'$1").replaceAll('"', '""')}"`;
  return [fields, ...report.items.map((item) => fields.map((field) => item[field]))].map((row) => row.map(cell).join(",")).join("\r\n");
}

function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

watch("value", apply);
apply();
