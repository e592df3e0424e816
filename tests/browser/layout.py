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


# Buttons, tabs and menus in the window whose middle shows something else.
COVERED = """() => [...document.querySelectorAll("button, [role=tab], summary")]
  .filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest(".visually-hidden"))
  .filter((node) => {
    const box = node.getBoundingClientRect();
    const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return top && !node.contains(top);
  })
  .map((node) => node.textContent.trim())"""


def covered(page, width):
    """The names of buttons, tabs and menus that something else lies over, in a window of that many pixels."""
    page.set_viewport_size({"width": width, "height": 844})
    return page.evaluate(COVERED)
