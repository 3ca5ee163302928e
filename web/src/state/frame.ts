/** Runs work at most once a frame: many changes, one drawing. In a page that nobody sees frames do not come: there a timer does. */
export function perFrame(work: () => void): () => void {
  let waiting = false;
  const run = () => {
    waiting = false;
    work();
  };
  return () => {
    if (waiting) return;
    waiting = true;
    if (document.hidden) setTimeout(run, HIDDEN_MS);
    else requestAnimationFrame(run);
  };
}

const HIDDEN_MS = 200;
