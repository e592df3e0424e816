// Logs in with Hugging Face, or out; the value is the name of who has logged in. The link in the address comes back
// with the visitor (head.js), and so does what was typed (draft.js).
const link = element.querySelector("a");

function show() {
  const name = props.value;
  if (name) link.textContent = window.lab.say("login.out", { name });
  link.href = (name ? "/logout" : "/login/huggingface") + "?_target_url=" + encodeURIComponent("/" + location.search);
}

link.addEventListener("click", () => {
  try { sessionStorage.setItem("lab.link", location.hash); } catch { /* a browser that keeps nothing loses the link */ }
});
watch("value", show);
show();
