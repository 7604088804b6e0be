import { useLayoutEffect, useRef } from "preact/hooks";
import { printable } from "../../client/core/printable.ts";
import { renderMarkdown } from "../../widget/view/markdown/render-markdown.ts";

const WORDS = { copy: "Copy", copied: "Copied" };

/** A reply as its visitor sees it: nodes, never markup of a text. */
export function Markdown({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current) renderMarkdown(box.current, printable(text), WORDS);
  }, [text]);
  return <div class="text markdown" dir="auto" ref={box} />;
}
