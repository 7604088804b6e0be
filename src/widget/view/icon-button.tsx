import type { ButtonHTMLAttributes, VNode } from "preact";
import { Icon } from "./icons.tsx";

/** A button with an icon. Its label is for screen readers, and is its tooltip. */
export function IconButton({
  path,
  label,
  ...more
}: { path: string; label: string } & ButtonHTMLAttributes<HTMLButtonElement>): VNode {
  return (
    <button type="button" aria-label={label} title={label} {...more}>
      <Icon path={path} />
    </button>
  );
}
