// Light and dark: the visitor's system decides, this button overrules it for the visit.
const button = element.querySelector("[data-action=theme]");
const dark = () => document.body.classList.contains("dark");
const name = () => { button.textContent = window.lab.say(dark() ? "header.light" : "header.dark"); };
button.addEventListener("click", () => { document.body.classList.toggle("dark"); name(); });
name();
