import type { ButtonHTMLAttributes, VNode } from "preact";
import { Icon } from "./icons.tsx";
import type { IconName } from "./icons.tsx";

/** A button with an icon. Its label is for screen readers, and is its tooltip. */
export function IconButton({
  icon,
  label,
  ...more
}: { icon: IconName; label: string } & ButtonHTMLAttributes<HTMLButtonElement>): VNode {
  return (
    <button type="button" aria-label={label} title={label} {...more}>
      <Icon name={icon} />
    </button>
  );
}
