// An open page that nobody touches shall rest. Gradio's sign of loading does not let it: it counts the seconds, frame by
// frame, and goes on after it has left the page. All that ends it from outside is to withdraw the frame it has asked
// for: requests are numbered in order, and as soon as the page is calm no other one lies between two of ours.
{
  const CALM = 30; // frames in a row, half a second
  const PATIENCE = 3600; // frames, about a minute: what does not calm down by then is left alone
  let last = 0;
  let calm = 0;
  let looks = 0;
  const look = () => {
    const own = requestAnimationFrame(look);
    const others = own - last - 1;
    last = own;
    calm = others <= 1 ? calm + 1 : 0;
    looks += 1;
    if (calm < CALM && looks < PATIENCE) return;
    cancelAnimationFrame(own);
    if (calm >= CALM && others === 1) cancelAnimationFrame(own - 1);
  };
  requestAnimationFrame(look);
}
