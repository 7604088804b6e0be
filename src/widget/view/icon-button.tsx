import type { ButtonHTMLAttributes, VNode } from "preact";
import { Icon } from "./icons.tsx";
import type { IconName } from "./icons.tsx";

/** A button that shows a picture; its label is what a screen reader says, and what a pointer that rests on it shows. */
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
