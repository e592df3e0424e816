// On a narrow screen the results come first; this button opens the conversation above them.
const toggle = element.querySelector("button");
toggle.addEventListener("click", () => {
  const open = document.getElementById("panel").toggleAttribute("data-open");
  toggle.setAttribute("aria-expanded", String(open));
  toggle.textContent = window.lab.say(open ? "panel.close" : "panel.open");
});
