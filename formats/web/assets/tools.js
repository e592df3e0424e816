// Tools as cards: name, description and a table of parameters, which is what most schemas are; the rest stays JSON.
const TYPES = ["string", "integer", "number", "boolean", "array", "object"];
const IN_ROW = ["type", "description", "enum"];
const IN_CARD = ["name", "description", "parameters"];
const functionOf = (tool) => (isObject(tool.function) ? tool.function : tool);
const withFunction = (tool, inner) => (isObject(tool.function) ? { ...tool, function: inner } : inner);

const tell = () => document.dispatchEvent(new CustomEvent("lab:tools"));
const none = make("div", { className: "no-tools" });
const list = editor("tools", { card, blank: "", one: "tools.one", changed: (self) => { emptiness(self); tell(); } });

// No list and an empty one are different things to a template.
function emptiness(self) {
  none.hidden = self.items.length > 0;
  none.querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", String((b.dataset.kind === "null") === self.isNull)));
}

function card(tool, node) {
  const put = (key, value, field) => list.put(node, withFunction(node.item, having(functionOf(node.item), key, value)), field);
  const inner = functionOf(tool);
  node.append(make("div", { className: "card-head" },
    make("input", { type: "text", className: "tool-name", value: String(inner.name ?? ""), placeholder: say("tools.name_hint"), "aria-label": say("tools.name"), "data-first": "", spellcheck: false,
      oninput: (event) => put("name", event.target.value, "name") }),
    list.buttons(node)));
  node.append(area(say("tools.description"), String(inner.description ?? ""), (text) => put("description", text || undefined, "description"), { placeholder: say("tools.description_hint") }));
  const schema = inner.parameters;
  const isTable = schema === undefined || (isObject(schema) && (schema.properties === undefined || isObject(schema.properties)));
  if (!isTable) {
    node.append(jsonArea(say("tools.parameters_json"), schema, () => null, (value) => put("parameters", value, "parameters")));
  } else node.append(parameters(node, put));
  const kept = [...Object.keys(tool).filter((key) => key !== "type" && tool[key] !== inner), ...Object.keys(inner).filter((key) => !IN_CARD.includes(key))];
  if (isObject(tool.function) && kept.length) node.append(make("span", { className: "kept" }, say("editor.kept", { names: kept.map(shown).join(", ") })));
}

const schemaOf = (node) => functionOf(node.item).parameters ?? { type: "object", properties: {} };

function parameters(node, put) {
  const schema = schemaOf(node);
  const properties = schema.properties ?? {};
  const setSchema = (next, field) => put("parameters", next, field);
  const setProperty = (name, value, field) => setSchema({ ...schemaOf(node), properties: having(schemaOf(node).properties ?? {}, name, value) }, field);
  const table = make("div", { className: "parameters", role: "group", "aria-label": say("tools.parameters") });
  Object.keys(properties).forEach((name, place) => table.append(parameter(name, place, node, setSchema, setProperty)));
  table.append(act(say("tools.plus_parameter"), say("tools.add_parameter"), () => {
    let name = "name";
    for (let number = 2; name in (schemaOf(node).properties ?? {}); number += 1) name = "name" + number;
    setSchema({ ...schemaOf(node), properties: { ...schemaOf(node).properties, [name]: { type: "string" } } });
    const field = [...node.querySelectorAll(".parameter .parameter-name")].at(-1);
    field.focus();
    field.select();
  }, { "data-action": "add-parameter" }));
  const rest = Object.keys(schema).filter((key) => !["type", "properties", "required"].includes(key));
  if (rest.length) table.append(make("span", { className: "kept" }, say("editor.kept", { names: rest.map(shown).join(", ") })));
  return table;
}

function parameter(first, place, node, setSchema, setProperty) {
  let name = first; // it changes while it is typed, and the row stays
  const property = () => schemaOf(node).properties[name];
  const value = property();
  const required = () => (Array.isArray(schemaOf(node).required) ? schemaOf(node).required : []);
  const simple = isObject(value) && (value.type === undefined || TYPES.includes(value.type));
  const key = (what) => what + " " + place;
  const row = make("div", { className: "parameter", role: "group", "aria-label": say("tools.parameter", { n: place + 1 }) });
  const rename = (event) => {
    const to = event.target.value;
    const taken = to === "" || (to !== name && to in schemaOf(node).properties);
    event.target.setAttribute("aria-invalid", String(taken));
    if (taken) return;
    const schema = schemaOf(node);
    const next = { ...schema, properties: renamed(schema.properties, name, to) };
    if (Array.isArray(schema.required)) next.required = schema.required.map((one) => (one === name ? to : one));
    name = to;
    setSchema(next, key("rename"));
  };
  const types = [...(simple && value.type === undefined ? [["", say("tools.any_type")]] : []), ...TYPES.map((type) => [type, type]), ...(simple ? [] : [["json", say("tools.type_below")]])];
  row.append(
    make("input", { type: "text", className: "parameter-name", value: shown(name), "aria-label": say("tools.parameter_name"), spellcheck: false, oninput: rename }),
    choice(say("tools.type"), types, simple ? value.type ?? "" : "json", (type) => setProperty(name, type ? { ...(isObject(property()) ? property() : {}), type } : having(property(), "type", undefined))),
    make("label", { className: "required" }, make("input", { type: "checkbox", checked: required().includes(name), "aria-label": say("tools.required"),
      onchange: (event) => {
        const left = required().filter((one) => one !== name);
        setSchema(having(schemaOf(node), "required", event.target.checked ? [...left, name] : left.length ? left : undefined), key("required"));
      } }), say("tools.is_required")),
    act("×", say("tools.remove_parameter"), () => {
      const schema = schemaOf(node);
      const left = required().filter((one) => one !== name);
      let next = { ...schema, properties: having(schema.properties, name, undefined) };
      if (Array.isArray(schema.required)) next = having(next, "required", left.length ? left : undefined);
      setSchema(next);
      node.querySelector("[data-action=add-parameter]").focus();
    }));
  if (simple) {
    row.append(
      area(say("tools.parameter_description"), String(value.description ?? ""), (text) => setProperty(name, having(property(), "description", text || undefined), key("about")), { placeholder: say("tools.parameter_hint") }),
      choices(value, (next) => setProperty(name, having(property(), "enum", next), key("enum"))));
  }
  const rest = isObject(value) ? Object.fromEntries(Object.entries(value).filter(([one]) => !simple || !IN_ROW.includes(one))) : value;
  if (!simple || Object.keys(rest).length) {
    row.append(jsonArea(say(simple ? "tools.more_schema" : "tools.schema"), rest, (v) => (simple && v !== undefined && !isObject(v) ? say("editor.needs_object") : null), (next) => {
      const kept = simple ? Object.fromEntries(Object.entries(property()).filter(([one]) => IN_ROW.includes(one))) : {};
      setProperty(name, isObject(next) ? { ...kept, ...next } : next ?? kept, key("rest"));
    }));
  }
  return row;
}

// Choices are typed with commas; those that are no plain words are shown and typed as a JSON list.
function choices(value, set) {
  const plain = (one) => typeof one === "string" && one.trim() === one && one !== "" && !/[,"[\]]/.test(one);
  const given = value.enum;
  const text = given === undefined ? "" : Array.isArray(given) && given.every(plain) ? given.join(", ") : oneLine(given);
  const typed = (word) => {
    if (["integer", "number"].includes(value.type)) try { return read(word); } catch { return word; }
    return word;
  };
  return make("input", { type: "text", className: "choices", value: text, placeholder: say("tools.choices_hint"), "aria-label": say("tools.choices"), spellcheck: false,
    oninput: (event) => {
      const words = event.target.value.trim();
      let next;
      let wrong = false;
      if (words.startsWith("[")) try { next = read(words); } catch { wrong = true; }
      else if (words) next = words.split(",").map((word) => word.trim()).filter(Boolean).map(typed);
      event.target.setAttribute("aria-invalid", String(wrong));
      if (!wrong) set(next);
    } });
}

const kind = (name, words, give) => make("button", { type: "button", textContent: words, "data-kind": name, onclick: () => { list.change(give); emptiness(list); } });
none.append(say("tools.none") + " ", kind("null", say("tools.none_null"), null), kind("list", say("tools.none_list"), []));
element.querySelector("[data-slot=adders]").append(
  act(say("tools.plus"), say("tools.add"), () => list.insert(list.items.length, { type: "function", function: { name: "", description: "", parameters: { type: "object", properties: {} } } })),
  none);
list.start();
