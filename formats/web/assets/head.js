// Every question to the server is debounced and numbered here, whichever input it comes from, so that the last
// keystroke always wins: answer.js drops an answer that is older than the one shown.
window.lab = {
  number: 0,
  timer: 0,
  // The inputs of a listener, the last of which is the number, 120 ms after the last call.
  ask(inputs) {
    clearTimeout(this.timer);
    return new Promise((resolve) => {
      this.timer = setTimeout(() => resolve([...inputs.slice(0, -1), ++this.number]), 120);
    });
  },
  // The person's own date, as YYYY-MM-DD.
  today: () => new Date().toLocaleDateString("en-CA"),
};
