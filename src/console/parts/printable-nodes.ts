import { options } from "preact";
import type { ComponentChildren } from "preact";
import { printable } from "../../client/core/printable.ts";

/** Attributes that are read as text. What a field holds stays as it is: it may be saved again. */
const READ = ["title", "alt", "aria-label"] as const;

/**
 * Every text of the page as a person may safely read it: names, messages, contexts and the rest come from strangers, in
 * too many places to remember each.
 */
export function showPrintable(): void {
  const before = options.vnode?.bind(options);
  options.vnode = (node) => {
    const props = node.props as Record<string, unknown> & { children?: ComponentChildren };
    if (props.children !== undefined) props.children = readable(props.children);
    if (typeof node.type === "string") {
      for (const name of READ) {
        const value = props[name];
        if (typeof value === "string") props[name] = printable(value);
      }
    }
    before?.(node);
  };
}

function readable(children: ComponentChildren): ComponentChildren {
  if (typeof children === "string") return printable(children);
  return Array.isArray(children) ? children.map(readable) : children;
}
