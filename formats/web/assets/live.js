// The state of a run, placed as text: nothing that a model wrote is ever markup. Nodes are made once and then filled, so
// that a reader can select and scroll while more comes.
const slot = (name) => element.querySelector(`[data-slot=${name}]`);
let run = null; // the run that is shown
let columns = [];

function make(tag, css, text) {
  const node = document.createElement(tag);
  if (css) node.className = css;
  if (text !== undefined) node.textContent = text;
  return node;
}

function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Text that grows is added to: a selection in it stays.
function grow(node, text) {
  const before = node.textContent;
  if (before === text) return;
  const atEnd = node.scrollHeight - node.scrollTop - node.clientHeight < 24;
  if (before && text.startsWith(before)) node.append(text.slice(before.length));
  else node.textContent = text;
  if (atEnd) node.scrollTop = node.scrollHeight;
}

function apply() {
  const state = props.value;
  if (!state) return;
  if (state.run !== run) {
    if (state.run !== window.lab.run) return; // an older run that is still ending
    run = state.run;
    columns = [];
    slot("columns").replaceChildren();
  }
  element.querySelector(".live-page").dataset.state = state.state;
  slot("problem").hidden = !state.problem;
  say(slot("problem"), state.problem);
  slot("words").hidden = !state.words;
  say(slot("words"), state.words);
  state.columns.forEach((column, index) => {
    columns[index] ??= newColumn(column);
    fillColumn(columns[index], column);
  });
}

function newColumn(column) {
  const node = make("article", "live-column");
  node.append(make("h3", "", column.title));
  const parts = { node, rounds: [], ending: make("p", "live-ending"), problem: make("p", "problem") };
  parts.problem.setAttribute("role", "alert");
  node.append(parts.problem, parts.ending);
  slot("columns").append(node);
  return parts;
}

const ENDINGS = {
  answer: "The model answered without a further call.",
  rounds: "The rounds are used up.",
  stopped: "Stopped.",
  time: "Stopped: a run may not hold the model for longer.",
};

function fillColumn(parts, column) {
  column.rounds.forEach((round, index) => {
    if (!parts.rounds[index]) {
      parts.rounds[index] = newRound(round);
      parts.node.insertBefore(parts.rounds[index].node, parts.problem);
    }
    fillRound(parts.rounds[index], round);
  });
  parts.problem.hidden = !column.problem;
  say(parts.problem, column.problem);
  const needed = (column.needed ?? []).join(", ");
  const ending = column.ending === "result_needed"
    ? `Nobody has a result for ${needed}: type one under "Results typed by hand" and generate again.`
    : ENDINGS[column.ending] ?? "";
  say(parts.ending, [ending, ...column.violations].filter(Boolean).join(" "));
}

function newRound(round) {
  const node = make("section", "live-round");
  const head = make("header");
  const prompt = make("details", "live-prompt");
  const count = round.ids_count === null ? "sent as text" : `${round.ids_count.toLocaleString("en")} ids`;
  prompt.append(make("summary", "", `Prompt, ${count}`), pre("Prompt", round.prompt));
  const parts = {
    node,
    figures: make("p", "figures"),
    raw: pre("Output as it came", ""),
    reasoning: part("Reasoning"),
    content: part("Content"),
    calls: make("div", "live-calls"),
    results: make("div", "live-results"),
  };
  const sampling = round.sampling;
  const settings = `${round.generated_by.model.split("/").pop()} · ${round.generated_by.where} · seed ${sampling.seed}`
    + ` · temperature ${sampling.temperature} · top_p ${sampling.top_p} · up to ${sampling.max_tokens} tokens`
    + ` · stops ${sampling.stop.map((stop) => JSON.stringify(stop)).join(" ") || "none"} · read as ${round.format}`;
  head.append(make("h4", "", `Round ${round.round}`), parts.figures);
  node.append(head, make("p", "settings", settings));
  for (const note of round.notes) node.append(make("p", "live-note", note));
  node.append(prompt, make("h5", "", "Output"), parts.raw, parts.reasoning.node, parts.content.node, parts.calls, parts.results);
  return parts;
}

function pre(label, text) {
  const node = make("pre", "prompt", text);
  node.tabIndex = 0;
  node.setAttribute("role", "region");
  node.setAttribute("aria-label", label);
  return node;
}

function part(title) {
  const node = make("div", "live-part");
  const text = make("p");
  node.append(make("h5", "", title), text);
  return { node, text };
}

const ENDS = { end: "end token", stop: "stop string", length: "token limit", stopped: "stopped", time: "time limit" };

function fillRound(parts, round) {
  grow(parts.raw, round.text);
  for (const name of ["reasoning", "content"]) {
    parts[name].node.hidden = !round[name];
    grow(parts[name].text, round[name]);
  }
  const figures = [];
  if (round.tokens) figures.push(`${round.tokens} tokens`);
  const timings = round.timings ?? {};
  if (timings.tokens_per_second) figures.push(`${timings.tokens_per_second.toFixed(1)} tokens/s`);
  if (timings.first_token) figures.push(`first after ${timings.first_token.toFixed(2)} s`);
  if (round.stop_reason) {
    figures.push(`ended by ${ENDS[round.stop_reason]}${round.stopped_by ? ` ${round.stopped_by}` : ""}`);
  }
  if (round.server_prompt_tokens && round.server_prompt_tokens !== round.ids_count && round.ids_count !== null) {
    figures.push(`the server counts ${round.server_prompt_tokens} prompt tokens`);
  }
  say(parts.figures, figures.join(" · "));
  list(parts.calls, round.calls, fillCall);
  list(parts.results, round.results, fillResult);
}

function list(node, values, fill) {
  while (node.children.length > values.length) node.lastChild.remove();
  values.forEach((value, index) => {
    const key = JSON.stringify(value);
    const child = node.children[index] ?? node.appendChild(make("div"));
    if (child.dataset.key === key) return;
    child.dataset.key = key;
    child.replaceChildren();
    fill(child, value);
  });
}

function fillCall(node, call) {
  node.className = "live-call" + (call.problem ? " bad-call" : "");
  node.append(make("h5", "", "Call"), make("code", "", `${call.name ?? "(no name)"} ${JSON.stringify(call.arguments)}`));
  const errors = call.schema_errors.map((error) => `${error.path || "arguments"}: ${error.message}`);
  if (call.problem) node.append(make("p", "call-problem", [call.problem.replaceAll("_", " "), ...errors].join("; ")));
  if (call.note) node.append(make("p", "call-note", call.note));
}

function fillResult(node, result) {
  node.className = "live-result" + (result.is_error ? " bad-call" : "");
  const title = result.is_error ? "Tool error" : result.by === "typed" ? "Result, typed" : "Result";
  node.append(make("h5", "", title), make("code", "", result.content));
}

watch("value", apply);
apply();
