import { useEffect, useRef, useState } from "preact/hooks";
import type { Lit } from "./lit.ts";

/** The thread's chart with its lit states and moves. `picture`: the address of its drawing. */
export function Chart({ lit, label, picture }: { lit: Lit; label: string; picture: string }) {
  const frame = useRef<HTMLDivElement>(null);
  const [svg, setSvg] = useState<SVGElement | null>(null);

  useEffect(() => {
    const request = loadPicture(picture, (loaded) => {
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
  }, [svg, lit]);

  return <div class="chart" ref={frame} role="img" aria-label={label} />;
}

/** Loads the picture as a document: the page's policy does not allow text to become markup. */
function loadPicture(address: string, take: (picture: SVGElement) => void): XMLHttpRequest {
  const request = new XMLHttpRequest();
  request.open("GET", address);
  request.responseType = "document";
  request.onload = () => {
    const root = request.responseXML?.documentElement;
    if (!root) return;
    root.querySelector(":scope > title")?.remove();
    for (const name of ["width", "height", "role"]) root.removeAttribute(name);
    // A cast: the document is the chart's SVG file.
    take(document.importNode(root, true) as unknown as SVGElement);
  };
  request.send();
  return request;
}
