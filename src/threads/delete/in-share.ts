import { hash } from "node:crypto";
import type { Share } from "../../store.ts";

/** Does this item belong to an instance's share? Instances agree on it as long as they see the same instances. */
export function isInShare(name: string, { rank, of }: Share): boolean {
  return parseInt(hash("sha256", name).slice(0, 8), 16) % of === rank;
}
