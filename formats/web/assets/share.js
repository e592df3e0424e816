// Links, files and exports. The server makes them from the inputs; the state itself lives in the address.
const { say } = window.lab;
const note = document.querySelector(".share-note"); // below the title, across the page
const changes = document.querySelector(".changes");
const menu = element.querySelector("details.menu");
let number = 0; // of the last thing asked for
let embed = false; // whether a link was asked for as embed code
let fading = 0; // the timer of what was said

// What went well is said for a while; what did not stands until something else is done.
function tell(text) {
  clearTimeout(fading);
  note.textContent = text;
  fading = setTimeout(() => { note.textContent = ""; }, 10000);
}

function ask(what, text = "") {
  embed = what === "embed";
  clearTimeout(fading);
  note.textContent = what === "open" ? say("share.opening") : "";
  const view = document.querySelector("#results [role=tab][aria-selected=true]")?.dataset.tabId ?? "";
  window.lab.opening = what === "open";
  window.lab.questions.share = { ask: embed ? "link" : what, text, view, number: ++number };
  trigger("input");
}

const HUB = "https://huggingface.co";
const space = element.querySelector(".share").dataset.space; // the outer address of the Space this runs in, or ""

// The origin of the page whose frame this is; "" for a page of its own. The browser's word, else where it came from.
function parentOrigin() {
  if (window.parent === window) return "";
  if (location.ancestorOrigins) return location.ancestorOrigins[0] ?? "";
  try { return new URL(document.referrer).origin; } catch { return ""; }
}
const framedByHub = space !== "" && parentOrigin() === HUB;

// Where a link must lead: the page's own address, or the Space's outer one inside its frame. The query may hold a
// private Space's token (__sign) and is left out.
const base = () => (framedByHub ? space : location.origin + location.pathname);

// The outer address shows the link as well; no other page than the Hub's is told.
function tellParent() {
  if (framedByHub) window.parent.postMessage({ hash: location.hash.slice(1) }, HUB);
}

function download(answer) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([answer.text], { type: answer.type }));
  link.download = answer.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// What a state shows, in one line.
const about = ({ about }) => say("share.about", { ...about, what: about.said ? `“${about.said}”` : say("share.conversation") });

const embedCode = (address) =>
  `<iframe src="${address}" width="100%" height="640" style="border:0" title="Prompt Format Lab"></iframe>`;

async function apply() {
  const answer = props.value;
  if (!answer || answer.number !== number) return;
  window.lab.opening = false;
  if (answer.problem !== undefined) {
    note.innerHTML = answer.problem;
    return;
  }
  note.textContent = "";
  if (answer.done === "link") {
    // The link becomes the page's own address; the query is left out, since a host may have put a secret there.
    history.replaceState(null, "", location.pathname + answer.text);
    seen = location.hash;
    tellParent();
    const own = location.origin + location.pathname;
    await window.lab.copy(embed ? embedCode(own + "?embed" + answer.text) : base() + answer.text);
    tell(say(embed ? "share.embedded" : "share.linked", { about: about(answer) }));
  } else if (answer.done === "open") {
    changes.innerHTML = answer.changes;
    tell(say("share.opened", { about: about(answer) }));
    if (answer.view) window.lab.openTab(answer.view);
  } else {
    download(answer);
    tell(say(answer.too_long ? "share.too_long" : "share.saved", { name: answer.name }));
  }
}

let seen = ""; // the fragment whose state is on the page
function openAddress() {
  if (location.hash === seen) return;
  seen = location.hash;
  tellParent();
  const state = location.hash.slice(1).split("&").filter((part) => part !== "view=embed").join("&");
  element.querySelector("a.open-full").href = base() + "#" + state;
  if (/[#&]s=/.test(location.hash)) ask("open", location.hash);
}

async function openFile(file) {
  if (file) ask("open", await file.text());
}

element.addEventListener("click", (event) => {
  const button = event.target.closest("[data-ask]");
  if (!button) return;
  menu.open = false;
  ask(button.dataset.ask);
});
element.querySelector("input[type=file]").addEventListener("change", (event) => {
  menu.open = false;
  openFile(event.target.files[0]);
  event.target.value = "";
});
document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
element.addEventListener("keydown", (event) => { if (event.key === "Escape") menu.open = false; });
window.addEventListener("hashchange", openAddress);
document.addEventListener("dragover", (event) => {
  if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
});
document.addEventListener("drop", (event) => {
  const file = event.dataTransfer?.files[0];
  if (!file || event.target.closest("textarea, input, .cm-editor")) return;
  event.preventDefault();
  openFile(file);
});

watch("value", apply);
openAddress();
