import type { ReceivedSpan } from "./receiver.ts";

/**
 * Spans as a tree, one a line, those of one parent in the order in which they began. A parent that never came, since its
 * process was killed or is a caller's, stands in brackets; `names` tells what it is called.
 */
export function treeOf(spans: readonly ReceivedSpan[], names: ReadonlyMap<string, string>): string {
  const known = new Map(spans.map((span) => [span.spanId, span]));
  const label = (spanId: string) => names.get(spanId) ?? known.get(spanId)?.name ?? spanId;
  const tops = spans.filter(({ parentSpanId }) => !known.has(parentSpanId));
  const parents = [...new Set(tops.sort(byStart).map(({ parentSpanId }) => parentSpanId))];
  return parents
    .flatMap((parent) => {
      const under = tops.filter(({ parentSpanId }) => parentSpanId === parent);
      if (parent === "") return under.flatMap((top) => branch(top, ""));
      return [`[${label(parent)}]`, ...under.flatMap((top) => branch(top, "  "))];
    })
    .join("\n");

  function branch(span: ReceivedSpan, indent: string): string[] {
    const links = span.links.map(({ spanId }) => ` -> ${label(spanId)}`).join("");
    const type = span.attributes["error.type"];
    const error = typeof type === "string" ? ` !${type}` : "";
    const own = names.get(span.spanId);
    const line = `${indent}${span.name}${own === undefined ? "" : ` (${own})`}${error}${links}`;
    const children = spans.filter(({ parentSpanId }) => parentSpanId === span.spanId).sort(byStart);
    return [line, ...children.flatMap((child) => branch(child, `${indent}  `))];
  }
}

function byStart(a: ReceivedSpan, b: ReceivedSpan): number {
  return a.startMs - b.startMs;
}
