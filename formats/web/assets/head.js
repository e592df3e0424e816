// Every question to the server is debounced and numbered here, whichever input it comes from, so that the last
// keystroke always wins: answer.js drops an answer that is older than the one shown.
window.lab = {
  number: 0,
  timers: {},
  opening: false, // whether a link or a file is on its way that will fill all inputs
  // The inputs of a listener, the last of which is the number, 120 ms after the last call for the same tab. Columns
  // that a link is about to replace are not worth a question; should the link take long, it is asked after all.
  ask(inputs, tab = "compare") {
    clearTimeout(this.timers[tab]);
    return new Promise((resolve) => {
      const pause = this.opening && tab === "compare" ? 1500 : 120;
      this.timers[tab] = setTimeout(() => resolve([...inputs.slice(0, -1), ++this.number]), pause);
    });
  },
  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a frame without permission: answer the browser's own copy command
      document.addEventListener("copy", (event) => {
        event.clipboardData.setData("text/plain", text);
        event.preventDefault();
      }, { once: true });
      document.execCommand("copy");
    }
  },
  // What parts of the page have asked last, by name. An answer takes the place of a part's value, so a question that
  // waits for the answer to an earlier one must not stand there.
  questions: {},
  run: "", // the name of this page's last live run
  runName: () => String(Math.random()).slice(2) + Date.now(),
  // The person's own date, as YYYY-MM-DD.
  today: () => new Date().toLocaleDateString("en-CA"),
};

// Back from logging in: the address has its link again.
try {
  if (!location.hash) history.replaceState(null, "", location.href + (sessionStorage.getItem("lab.link") ?? ""));
  sessionStorage.removeItem("lab.link");
} catch { /* a browser that keeps nothing */ }

// Inside other people's pages only the comparison is shown.
document.documentElement.classList.toggle("embed",
  new URLSearchParams(location.search).has("embed") || /[#&]view=embed\b/.test(location.hash));
