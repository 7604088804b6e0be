import { useEffect, useRef, useState } from "preact/hooks";
import type { Lit } from "./lit.ts";

/** The thread's chart with its lit states and moves; the current state is brought into sight. */
export function Chart({ lit, label, isWhole }: { lit: Lit; label: string; isWhole: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  const [svg, setSvg] = useState<SVGElement | null>(null);

  useEffect(() => {
    const request = loadPicture((loaded) => {
      frame.current?.append(loaded);
      setSvg(loaded);
    });
    return () => request.abort();
  }, []);

  useEffect(() => {
    if (!svg) return;
    const classes = [
      ["been", lit.been],
      ["taken", lit.taken],
      ["now", lit.now],
    ] as const;
    for (const [name, ids] of classes) {
      for (const element of svg.querySelectorAll(`.${name}`)) element.classList.remove(name);
      for (const id of ids) svg.querySelector(`#${CSS.escape(id)}`)?.classList.add(name);
    }
    showPresent(frame.current);
  }, [svg, lit, isWhole]);

  return (
    <div class={isWhole ? "chart whole" : "chart"} ref={frame} role="img" aria-label={label} tabIndex={0} />
  );
}

/** Loads the picture as a document: the page's policy does not allow text to become markup. */
function loadPicture(take: (picture: SVGElement) => void): XMLHttpRequest {
  const request = new XMLHttpRequest();
  request.open("GET", "/console/thread.svg");
  request.responseType = "document";
  request.onload = () => {
    const root = request.responseXML?.documentElement;
    if (!root) return;
    root.querySelector(":scope > title")?.remove();
    root.removeAttribute("role");
    // Its points become pixels: at this size its smallest text has 12 of them.
    for (const side of ["width", "height"])
      root.setAttribute(side, String(parseFloat(root.getAttribute(side) ?? "")));
    // A cast: the document is the chart's SVG file.
    take(document.importNode(root, true) as unknown as SVGElement);
  };
  request.send();
  return request;
}

/** Centers the current state in a chart that is larger than its place. */
function showPresent(chart: HTMLElement | null): void {
  const present = chart?.querySelector(".node.now");
  if (!chart || !present) return;
  const [place, state] = [chart.getBoundingClientRect(), present.getBoundingClientRect()];
  chart.scrollLeft += state.left + state.width / 2 - place.left - place.width / 2;
  chart.scrollTop += state.top + state.height / 2 - place.top - place.height / 2;
}
