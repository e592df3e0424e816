// The page in the visitor's language, chosen as Gradio chooses it for its own components, out of the dictionaries that
// Gradio ships with the page. What the server writes is English with the names of its words: `data-word` for a text,
// `data-word-title` and so on for an attribute, each a key and maybe JSON values behind it. Words are placed as text
// and never inside a <pre>: prompts, outputs and proofs stay what they are.
{
  const ATTRIBUTES = ["title", "aria-label", "placeholder", "label", "data-unit"];
  const NAMED = ["data-word", ...ATTRIBUTES.map((name) => "data-word-" + name)];
  const HOLDERS = [...NAMED.map((name) => `[${name}]`), "data[value]"].join();

  const languages = window.gradio_config?.i18n_translations ?? {};
  const wanted = (navigator.language || "en").split("-")[0];
  const language = wanted in languages ? wanted : "en";
  const words = languages[language] ?? {};
  const numeral = new Intl.NumberFormat(words["language.tag"] ?? "en").format;
  const shown = (value) => (typeof value === "number" ? numeral(value) : String(value));

  // A word by its key, its {holes} filled.
  const say = (key, values = {}) =>
    (words[key] ?? languages.en?.[key] ?? key).replace(/\{(\w+)\}/g, (hole, name) => (name in values ? shown(values[name]) : hole));

  const named = (text) => {
    const [key] = text.split(" ", 1);
    return say(key, key === text ? {} : JSON.parse(text.slice(key.length)));
  };

  // What is there already is not written again: this is called for what it has written itself.
  function write(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  function fill(node) {
    if (node.parentElement?.closest("pre")) return;
    if (node.matches("data")) write(node, numeral(Number(node.value)));
    if (node.dataset.word) write(node, named(node.dataset.word));
    for (const name of ATTRIBUTES) {
      const text = node.getAttribute("data-word-" + name);
      if (text) node.setAttribute(name, named(text));
    }
  }

  function translate(root) {
    if (root.matches(HOLDERS)) fill(root);
    root.querySelectorAll(HOLDERS).forEach(fill);
  }

  Object.assign(window.lab, { language, say, numeral });
  document.documentElement.lang = words["language.tag"] ?? "en";
  if (language !== "en") {
    translate(document.body);
    // Nodes come and go, and Gradio changes the names and texts of some that stay.
    new MutationObserver((records) => {
      for (const { target, addedNodes } of records) {
        const node = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
        if (!node || node.closest("pre, .cm-editor")) continue;
        if (node.matches(HOLDERS)) fill(node);
        for (const added of addedNodes) if (added.nodeType === Node.ELEMENT_NODE) translate(added);
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributeFilter: NAMED });
  }
}
