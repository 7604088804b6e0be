import type { ComponentChildren } from "preact";

/** One row of a list of facts (`dl class="facts"`); omitted if empty. */
export function Fact({
  name,
  mono = false,
  children,
}: {
  name: string;
  /** For ids, keys and addresses. */
  mono?: boolean;
  children: ComponentChildren;
}) {
  if (children === null || children === undefined || children === "") return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd class={mono ? "mono" : undefined}>{children}</dd>
    </div>
  );
}
