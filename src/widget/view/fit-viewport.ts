/** Watched already, each until its signal aborts. */
const watched = new WeakSet<AbortSignal>();

/**
 * Keeps the panel above a phone's keyboard. iOS, and Chrome with `interactive-widget=resizes-visual`, lay the keyboard over
 * the page, and only the visual viewport tells of it. A page that is enlarged by fingers is left alone.
 * https://developer.mozilla.org/en-US/docs/Web/API/VisualViewport
 */
export function fitViewport(frame: HTMLElement, onChange: () => void, signal: AbortSignal): void {
  const { visualViewport } = window;
  if (visualViewport === null || watched.has(signal)) return;
  watched.add(signal);
  const fit = () => {
    const { height, offsetTop, scale } = visualViewport;
    const hidden = document.documentElement.clientHeight - offsetTop - height;
    const isCovered = hidden > 1 && Math.abs(scale - 1) < 0.01;
    // Set by script, which no page policy forbids.
    frame.style.setProperty("--covered", isCovered ? `${hidden}px` : null);
    frame.style.setProperty("--seen-height", isCovered ? `${height}px` : null);
    onChange();
  };
  visualViewport.addEventListener("resize", fit, { signal });
  visualViewport.addEventListener("scroll", fit, { signal });
}
