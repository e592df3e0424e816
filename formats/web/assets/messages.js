// Messages as cards. What a template can tell apart can be told apart here: content that is text, null, missing or
// parts, arguments that are an object or JSON text.
const ROLES = ["system", "developer", "user", "assistant", "tool"];
const KINDS = ["text", "null", "missing", "parts"].map((kind) => [kind, say("messages." + kind)]);
const SHOWN = ["role", "content", "reasoning_content", "tool_calls", "tool_call_id", "name"];
const kindOf = (message) =>
  !("content" in message) ? "missing" : message.content === null ? "null" : typeof message.content === "string" ? "text"
  : Array.isArray(message.content) ? "parts" : "value";
const callOf = (call) => (isObject(call.function) ? call.function : call);
const withCall = (call, inner) => (isObject(call.function) ? { ...call, function: inner } : inner);
const tools = () => window.lab.editors.tools?.items ?? [];
const functionOf = (tool) => (isObject(tool.function) ? tool.function : tool);
const nameOf = (tool) => String(functionOf(tool).name ?? "");

const list = editor("messages", { card, blank: "", one: "messages.one" });

function card(message, node) {
  const set = (key, value, field) => list.put(node, having(node.item, key, value), field);
  const roles = ROLES.includes(message.role) ? ROLES : [...ROLES, String(message.role)];
  const kind = kindOf(message);
  const kinds = kind === "value" || message.role === "tool" ? [...KINDS, ["value", "JSON"]] : KINDS;
  node.dataset.role = message.role;
  node.append(make("div", { className: "card-head" },
    choice(say("messages.role"), roles.map((role) => [role, role]), message.role, (role) => set("role", role), { className: "role" }),
    make("span", { className: "content-kind" }, say("messages.content_kind") + " ",
      choice(say("messages.content_is"), kinds, kind, (chosen) => set("content", content(node.item.content, chosen)))),
    list.buttons(node)));
  if (kind === "text") {
    node.append(area(say("messages.content"), message.content, (text) => set("content", text, node), { "data-first": "", placeholder: say("messages.content_hint") }));
  } else if (kind === "parts") {
    const accept = (value) => (Array.isArray(value) ? null : say("editor.needs_parts"));
    node.append(jsonArea(say("messages.content_parts"), message.content, accept, (value) => set("content", value, node), { "data-first": "" }));
  } else if (kind === "value") {
    const accept = (value) => (value === undefined ? say("editor.needs_value") : null);
    node.append(jsonArea(say("messages.content_json"), message.content, accept, (value) => set("content", value, node), { "data-first": "" }));
  }
  if ("reasoning_content" in message) node.append(reasoning(message, set, node));
  if (message.role === "tool" || "tool_call_id" in message) node.append(answered(message, node));
  if (Array.isArray(message.tool_calls)) message.tool_calls.forEach((call, index) => node.append(toolCall(call, index, node)));
  node.append(more(message, set, node));
}

function content(before, kind) {
  if (kind === "missing") return undefined;
  if (kind === "null") return null;
  const text = typeof before === "string" ? before : Array.isArray(before)
    ? before.map((part) => (isObject(part) ? part.text ?? "" : String(part))).join("") : before == null ? "" : oneLine(before);
  if (kind === "text") return text;
  if (kind === "parts") return [{ type: "text", text }];
  try { return read(text); } catch { return {}; }
}

function reasoning(message, set, node) {
  const text = message.reasoning_content;
  return make("div", { className: "field" },
    make("div", { className: "field-head" }, make("span", {}, say("messages.reasoning")), act("×", say("messages.remove_reasoning"), () => set("reasoning_content", undefined))),
    typeof text === "string"
      ? area(say("messages.reasoning"), text, (value) => set("reasoning_content", value, "reasoning"), { "data-reasoning": "" })
      : jsonArea(say("messages.reasoning_json"), text, (v) => (v === undefined ? say("editor.needs_value") : null), (v) => set("reasoning_content", v, "reasoning")));
}

// Buttons for what the message does not have yet, and the names of what only JSON shows.
function more(message, set, node) {
  const row = make("div", { className: "card-more" });
  if (message.role === "assistant") {
    row.append(act(say("messages.plus_call"), say("messages.add_call"), () => addCall(node), { "data-action": "add-call" }));
    if (!("reasoning_content" in message)) row.append(act(say("messages.plus_reasoning"), say("messages.add_reasoning"), () => {
      set("reasoning_content", "");
      node.querySelector("[data-reasoning]").focus();
    }));
  }
  const hidden = Object.keys(message).filter((key) => !SHOWN.includes(key) || (key === "tool_calls" && !Array.isArray(message[key])));
  if (hidden.length) row.append(make("span", { className: "kept" }, say("editor.kept", { names: hidden.map(shown).join(", ") })));
  return row;
}

// Calls

function allCalls(before = Infinity) {
  return list.items.slice(0, before).flatMap((message, place) =>
    (Array.isArray(message.tool_calls) ? message.tool_calls : []).filter(isObject).map((call) => ({ place, call })));
}

function freshId() { // nine letters and digits: the one form that every template takes
  const used = new Set(allCalls().map(({ call }) => call.id));
  for (let number = 1; ; number += 1) {
    const id = "call" + String(number).padStart(5, "0");
    if (!used.has(id)) return id;
  }
}

function addCall(node) {
  const call = { id: freshId(), type: "function", function: { name: tools().map(nameOf)[0] ?? "", arguments: {} } };
  const before = Array.isArray(node.item.tool_calls) ? node.item.tool_calls : [];
  list.put(node, { ...node.item, tool_calls: [...before, call] });
  node.querySelectorAll(".tool-call")[before.length].querySelector("select, input").focus();
}

function toolCall(call, index, node) {
  const get = () => node.item.tool_calls[index];
  const put = (next, field) => list.put(node, { ...node.item, tool_calls: node.item.tool_calls.with(index, next) }, field);
  const box = make("div", { className: "tool-call", role: "group", "aria-label": say("messages.call", { n: index + 1 }) });
  if (!isObject(call)) return box;
  const inner = callOf(call);
  const names = [...new Set([...tools().map(nameOf).filter(Boolean), String(inner.name ?? "")])];
  box.append(make("div", { className: "field-head" },
    make("span", {}, say("messages.calls")),
    choice(say("messages.tool"), names.map((name) => [name, name || say("messages.choose_tool")]), String(inner.name ?? ""),
      (name) => put(withCall(get(), { ...callOf(get()), name }))),
    make("input", { type: "text", value: call.id ?? "", placeholder: say("messages.no_id"), "aria-label": say("messages.call_id"), spellcheck: false,
      oninput: (event) => put(having(get(), "id", event.target.value || undefined), "id" + index) }),
    act("×", say("messages.remove_call"), () => {
      const left = node.item.tool_calls.toSpliced(index, 1);
      list.put(node, having(node.item, "tool_calls", left.length ? left : undefined));
      node.querySelector("[data-action=add-call]")?.focus();
    })));
  box.append(argumentsOf(inner, index, node, (next, field) => put(withCall(get(), { ...callOf(get()), arguments: next }), field)));
  return box;
}

const formsShown = new WeakMap(); // card -> indexes of calls whose arguments are shown as JSON

function argumentsOf(inner, index, node, set) {
  const asText = typeof inner.arguments === "string";
  let value = inner.arguments;
  if (asText) try { value = read(inner.arguments); } catch { value = undefined; }
  const give = (next, field) => set(asText ? oneLine(next) : next, field);
  const tool = tools().find((candidate) => nameOf(candidate) === inner.name);
  const schema = functionOf(tool ?? {}).parameters;
  const fits = isObject(value) && isObject(schema) && isObject(schema.properties);
  const asJson = formsShown.get(node) ?? new Set();
  formsShown.set(node, asJson);
  const form = fits && !asJson.has(index);
  const head = make("div", { className: "field-head" }, make("span", {}, say("messages.arguments")),
    choice(say("messages.arguments_are"), [["object", say("messages.object")], ["text", say("messages.json_text")]], asText ? "text" : "object", (kind) =>
      set(kind === "text" ? (inner.arguments === undefined ? "{}" : oneLine(inner.arguments)) : isObject(value) ? value : {})));
  if (fits) head.append(act(say(form ? "editor.json" : "messages.form"), say(form ? "messages.as_json" : "messages.as_form"), () => {
    if (form) asJson.add(index); else asJson.delete(index);
    list.refill(node);
  }));
  const box = make("div", { className: "arguments" }, head);
  if (form) box.append(argumentForm(schema, value, index, give));
  else if (asText && value === undefined) box.append(area(say("messages.arguments_text"), inner.arguments, (text) => set(text, "arguments" + index), { className: "code" }));
  else box.append(jsonArea(say("messages.arguments_json"), value, (v) => (isObject(v) ? null : say("editor.needs_object")), (v) => give(v, "arguments" + index)));
  return box;
}

// A form made from the tool's schema; what is given beside it stays, in rows of its own.
function argumentForm(schema, given, index, set) {
  let current = given;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const names = [...new Set([...Object.keys(schema.properties), ...Object.keys(given)])];
  const rows = names.map((name) => {
    const property = schema.properties[name];
    const put = (value) => { current = having(current, name, value); set(current, "argument " + index + " " + name); };
    const label = shown(name) + (required.includes(shown(name)) ? " *" : "");
    const about = isObject(property) ? property.description : say("messages.not_in_schema");
    return make("label", { title: typeof about === "string" ? about : "" }, make("span", {}, label),
      field(shown(name), isObject(property) ? property : {}, given[name], required.includes(shown(name)), put));
  });
  return make("div", { className: "argument-form" }, ...rows);
}

function field(name, property, value, required, put) {
  const label = say("messages.argument", { name });
  const none = ["", say(required ? "messages.choose" : "messages.not_given")];
  if (Array.isArray(property.enum) && (value === undefined || property.enum.some((one) => oneLine(one) === oneLine(value)))) {
    const options = property.enum.map((one) => [oneLine(one), typeof one === "string" ? one : oneLine(one)]);
    return choice(label, [none, ...options], value === undefined ? "" : oneLine(value), (text) => put(text ? read(text) : undefined));
  }
  if (property.type === "boolean" && (value === undefined || typeof value === "boolean")) {
    const options = [none, ["true", "true"], ["false", "false"]];
    return choice(label, options, value === undefined ? "" : String(value), (text) => put(text ? text === "true" : undefined));
  }
  if (["integer", "number"].includes(property.type) && (value === undefined || isNumber(value))) {
    const node = make("input", { type: "text", inputMode: "decimal", "aria-label": label, placeholder: required ? property.type : none[1], value: value === undefined ? "" : oneLine(value) });
    node.addEventListener("input", () => {
      let number;
      try { number = node.value.trim() ? read(node.value) : undefined; } catch { number = null; }
      const fits = number === undefined || isNumber(number);
      node.setAttribute("aria-invalid", String(!fits));
      if (fits) put(number);
    });
    return node;
  }
  if (property.type === "string" && (value === undefined || typeof value === "string")) {
    return area(label, value ?? "", (text) => put(text || required ? text : undefined), { placeholder: say(required ? "messages.a_text" : "messages.not_given") });
  }
  return jsonArea(label, value, () => null, put, { placeholder: "JSON" });
}

// Results

function callsBefore(node) {
  return allCalls(list.items.indexOf(node.item)).map(({ place, call }) =>
    [String(call.id ?? ""), "#" + (place + 1) + " " + (callOf(call).name ?? "") + (call.id ? " · " + call.id : " " + say("messages.no_call_id")), call]);
}

function answered(message, node) {
  const id = message.tool_call_id;
  const options = () => {
    const found = callsBefore(node).filter(([known]) => known).map(([known, words]) => [known, words]);
    const other = typeof node.item.tool_call_id === "string" && !found.some(([known]) => known === node.item.tool_call_id);
    return [["", say("messages.no_id")], ...found, ...(other ? [[node.item.tool_call_id, node.item.tool_call_id + " " + say("messages.no_such_call")]] : [])];
  };
  const picker = choice(say("messages.answers_call"), options(), id ?? "", (chosen) => {
    const call = callsBefore(node).find(([known]) => known === chosen)?.[2];
    let next = having(node.item, "tool_call_id", chosen || undefined);
    if (call && "name" in next) next = { ...next, name: callOf(call).name };
    list.put(node, next);
  });
  const renew = () => fillChoice(picker, options(), node.item.tool_call_id ?? "");
  picker.addEventListener("focus", renew);
  return make("div", { className: "field-head" }, make("span", {}, say("messages.answers")), picker,
    make("input", { type: "text", value: message.name ?? "", placeholder: say("messages.no_name"), "aria-label": say("messages.tool_name"), spellcheck: false,
      oninput: (event) => list.put(node, having(node.item, "name", event.target.value || undefined), "name") }));
}

function blankMessage(role) {
  if (role !== "tool") return { role, content: "" };
  const answers = new Set(list.items.map((message) => message.tool_call_id));
  const open = allCalls().find(({ call }) => call.id && !answers.has(call.id)) ?? null;
  return { role, ...(open ? { tool_call_id: open.call.id, name: callOf(open.call).name } : {}), content: "" };
}

element.querySelector("[data-slot=adders]").append(make("span", {}, say("messages.add")),
  ...["user", "assistant", "tool", "system"].map((role) => act(role === "tool" ? say("messages.tool_result") : role, say("messages.add_one", { role }),
    () => list.insert(role === "system" ? 0 : list.items.length, blankMessage(role)))));

// Tools that were renamed or described anew show in the calls' pickers and forms.
let described = "";
document.addEventListener("lab:tools", () => {
  const now = JSON.stringify(tools());
  if (now === described) return;
  described = now;
  for (const node of element.querySelectorAll(".edit-card:has(.tool-call)")) list.refill(node);
});
list.start();
