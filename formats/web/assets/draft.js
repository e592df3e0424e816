(...values) => {
  // When the page has loaded: brings back what was typed before, out of this browser's own storage. A link in the
  // address comes first; once it is edited it says no longer what the page shows, and goes.
  const KEY = "lab.draft";
  const untouched = Array(values.length + 2).fill({ __type__: "update" }); // whatever is there stays, edits too
  const linked = () => /[#&]s=/.test(location.hash);
  let edited = false;
  const touch = () => {
    edited = true;
    if (!linked()) return;
    history.replaceState(null, "", location.pathname + location.search);
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  const panel = document.getElementById("panel");
  for (const name of ["input", "change"]) panel.addEventListener(name, (event) => { if (event.isTrusted) touch(); });
  document.addEventListener("lab:edited", touch);
  panel.addEventListener("click", (event) => { if (event.target.closest("#models button, #models [role=option], #paste [data-action=load]")) touch(); });
  window.lab.keep = (now) => {
    if (!edited || linked()) return; // what a link holds is in the link, and was not typed here
    try { localStorage.setItem(KEY, JSON.stringify(now)); } catch { /* a browser that stores nothing, or is full */ }
  };
  if (linked()) return untouched;
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    const fits = Array.isArray(kept) && kept.length === values.length && kept.every((value, index) => typeof value === typeof values[index]);
    if (fits && JSON.stringify(kept) !== JSON.stringify(values)) return [null, window.lab.say("panel.draft"), ...kept];
  } catch { /* no draft, or none that can be read */ }
  return untouched;
}
