"""What a person sees of a page's layout, as a test can ask for it."""

# Elements that reach over the right edge of the window, where nothing scrolls to them.
OUTSIDE = """() => {
  const within = (node) => node.getBoundingClientRect().right <= innerWidth + 1;
  const clips = (node) => getComputedStyle(node).overflowX !== "visible" && within(node);
  const reachable = (node) => {
    for (let at = node.parentElement; at && at !== document.body; at = at.parentElement) {
      if (!at.matches(".gradio-container") && clips(at)) return true;
    }
    return false;
  };
  return [...document.querySelectorAll("body *")]
    .filter((node) => !within(node) && node.checkVisibility({ visibilityProperty: true }) && !reachable(node))
    .map((node) => `${node.tagName} ${node.className}: ${node.textContent.trim().slice(0, 40)}`);
}"""


def outside(page, width=None):
    """The elements that nobody can see whole, in a window of that many pixels."""
    if width is not None:
        page.set_viewport_size({"width": width, "height": 844})
    return page.evaluate(OUTSIDE)
