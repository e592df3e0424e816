// The state of a run, placed as text: nothing that a model wrote is ever markup. Nodes are made once and then filled, so
// that a reader can select and scroll while more comes. Where a call waits for a result the page asks for it; the run
// that goes on is a new one, and its rounds are put behind those that are there.
const slot = (name) => element.querySelector(`[data-slot=${name}]`);
const word = window.lab.say;
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
  if (!state?.run) return;
  if (state.run !== run) {
    if (state.run !== window.lab.run) return; // an older run that is still ending
    run = state.run;
    if (state.goes_on) cutBehind(columns[state.goes_on.column], state.goes_on.rounds);
    else {
      columns = [];
      slot("columns").replaceChildren();
    }
  }
  const working = state.state === "working";
  element.querySelector(".live-page").dataset.state = state.state;
  slot("problem").hidden = !state.problem;
  say(slot("problem"), state.problem);
  slot("words").hidden = !state.words;
  say(slot("words"), Array.isArray(state.words) ? word(...state.words) : state.words);
  state.columns.forEach((column, index) => {
    const place = state.goes_on?.column ?? index;
    columns[place] ??= newColumn(column);
    fillColumn(columns[place], column, state.goes_on?.rounds ?? 0);
  });
  columns.forEach((parts) => settle(parts, working));
}

function newColumn(column) {
  const node = make("article", "live-column");
  node.append(make("h3", "", word("way." + column.style)));
  const parts = { node, rounds: [], asking: null, ending: make("p", "live-ending"), problem: make("p", "problem") };
  parts.problem.setAttribute("role", "alert");
  parts.ending.setAttribute("role", "status");
  node.append(parts.problem, parts.ending);
  slot("columns").append(node);
  return parts;
}

// What a run that went on has left behind its first rounds makes room for the next attempt.
function cutBehind(parts, rounds) {
  for (const round of parts.rounds.splice(rounds)) round.node.remove();
}

// `before` rounds are there already, and the column has those behind them.
function fillColumn(parts, column, before) {
  column.rounds.forEach((round, index) => {
    const place = before + index;
    if (!parts.rounds[place]) {
      parts.rounds[place] = newRound(round);
      parts.node.insertBefore(parts.rounds[place].node, parts.problem);
    }
    fillRound(parts.rounds[place], round, round.results);
  });
  if (column.answered.length) {
    const answered = parts.rounds[before - 1];
    list(answered.results, [...answered.given, ...column.answered], fillResult);
  }
  parts.problem.hidden = !column.problem;
  say(parts.problem, column.problem);
  const unanswered = column.ending === "rounds" && column.needed.length
    ? word("live.unanswered", { names: column.needed.join(", ") }) : "";
  say(parts.ending, [column.ending && word("live.ending_" + column.ending), unanswered, ...column.violations].filter(Boolean).join(" "));
  if (column.waits && parts.asking?.key !== column.waits.conversation) askFor(parts, column.waits);
  parts.over = column.ending === "answer" || column.ending === "rounds";
}

// Results typed by hand

const DRAFTS = "lab.results";
let drafts = {}; // call -> what was typed for it; the same call asked again finds it
try { drafts = JSON.parse(sessionStorage.getItem(DRAFTS)) ?? {}; } catch { /* a browser that stores nothing */ }

function keep(call, text) {
  drafts[call] = text;
  try { sessionStorage.setItem(DRAFTS, JSON.stringify(drafts)); } catch { /* likewise, or it is full */ }
}

function askFor(parts, waits) {
  parts.asking?.node.remove();
  const node = make("form", "live-ask");
  node.setAttribute("aria-label", word("live.ask"));
  const areas = waits.calls.map((call) => {
    const key = `${call.name} ${call.arguments}`;
    const label = make("label", "", word("live.result_of", { name: call.name }) + " ");
    const area = make("textarea");
    Object.assign(area, { rows: 3, value: drafts[key] ?? "", spellcheck: false, placeholder: word("live.result_hint") });
    area.addEventListener("input", () => keep(key, area.value));
    label.append(make("code", "", call.arguments), area);
    node.append(label);
    return area;
  });
  const buttons = make("div", "live-ask-buttons");
  const goOn = make("button", "live-go-on", word("live.go_on"));
  const stopHere = make("button", "", word("live.stop_here"));
  stopHere.type = "button";
  buttons.append(goOn, stopHere);
  node.append(buttons);
  const asking = { node, areas, key: waits.conversation, rounds: parts.rounds.length, dropped: false };
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = Object.fromEntries(waits.calls.map((call, index) => [call.id, areas[index].value]));
    props.value = { column: columns.indexOf(parts), rounds: asking.rounds, waits, typed };
    trigger("submit");
    document.querySelector("#live-stop")?.focus();
  });
  node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); node.requestSubmit(goOn); }
  });
  stopHere.addEventListener("click", () => {
    asking.dropped = true;
    node.hidden = true;
    say(parts.ending, word("live.given_up"));
    document.querySelector("#live-start")?.focus();
  });
  node.inert = true; // until the run has ended: the next column may still be written
  parts.asking = asking;
  parts.over = false;
  parts.rounds.at(-1).node.after(node);
}

// The question stays until the run has gone on to an end of its own: what failed or was stopped can be sent again.
function settle(parts, working) {
  const { asking } = parts;
  if (!asking) return;
  const gone = asking.dropped || parts.over || (working && parts.rounds.length > asking.rounds);
  const opens = !working && asking.node.inert;
  asking.node.hidden = gone;
  asking.node.inert = working;
  const idle = !document.activeElement || document.activeElement === document.body || document.activeElement.matches("#live-start, #live-stop");
  if (opens && !gone && idle) asking.areas[0].focus();
}

function newRound(round) {
  const node = make("section", "live-round");
  const head = make("header");
  const prompt = make("details", "live-prompt");
  const sent = round.generated_by.where === "process" ? "live.as_ids" : round.ids_count === null ? "live.as_text" : "live.as_text_ids";
  prompt.append(make("summary", "", word(sent, { n: round.ids_count })), pre(word("live.prompt"), round.prompt));
  const parts = {
    node,
    figures: make("p", "figures"),
    raw: pre(word("live.raw"), ""),
    reasoning: part(word("live.reasoning")),
    content: part(word("live.content")),
    calls: make("div", "live-calls"),
    results: make("div", "live-results"),
  };
  const sampling = round.sampling;
  const settings = word("live.settings", {
    model: round.generated_by.model.split("/").pop(),
    where: round.generated_by.where,
    seed: String(sampling.seed),
    temperature: String(sampling.temperature),
    top_p: String(sampling.top_p),
    tokens: sampling.max_tokens,
    stops: sampling.stop.map((stop) => JSON.stringify(stop)).join(" ") || word("live.no_stops"),
    format: round.format,
  });
  head.append(make("h4", "", word("live.round", { n: round.round })), parts.figures);
  node.append(head, make("p", "settings", settings));
  for (const note of round.notes) node.append(make("p", "live-note", note));
  node.append(prompt, make("h5", "", word("live.output")), parts.raw, parts.reasoning.node, parts.content.node, parts.calls, parts.results);
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

function fillRound(parts, round, results) {
  parts.given = results;
  grow(parts.raw, round.text);
  for (const name of ["reasoning", "content"]) {
    parts[name].node.hidden = !round[name];
    grow(parts[name].text, round[name]);
  }
  const figures = [];
  if (round.tokens) figures.push(word("live.count", { n: round.tokens }));
  const timings = round.timings ?? {};
  if (timings.tokens_per_second) figures.push(word("live.speed", { n: Number(timings.tokens_per_second.toFixed(1)) }));
  if (timings.first_token) figures.push(word("live.first", { n: Number(timings.first_token.toFixed(2)) }));
  if (round.stop_reason) {
    const what = word("live.end_" + round.stop_reason);
    figures.push(word("live.ended", { what: round.stopped_by ? what + " " + round.stopped_by : what }));
  }
  if (round.server_prompt_tokens && round.server_prompt_tokens !== round.ids_count && round.ids_count !== null) {
    figures.push(word("live.server_counts", { n: round.server_prompt_tokens }));
  }
  say(parts.figures, figures.join(" · "));
  list(parts.calls, round.calls, fillCall);
  list(parts.results, results, fillResult);
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
  node.append(make("h5", "", word("live.call")), make("code", "", (call.name ?? word("live.no_name")) + " " + call.written));
  const errors = call.schema_errors.map((error) => `${error.path || "arguments"}: ${error.message}`);
  if (call.problem) node.append(make("p", "call-problem", [call.problem.replaceAll("_", " "), ...errors].join("; ")));
  if (call.note) node.append(make("p", "call-note", call.note));
}

function fillResult(node, result) {
  node.className = "live-result" + (result.is_error ? " bad-call" : "");
  const title = word(result.is_error ? "live.error" : result.by === "typed" ? "live.typed" : "live.result");
  node.append(make("h5", "", title), make("code", "", result.content));
}

watch("value", apply);
apply();
