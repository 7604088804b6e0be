import { hash } from "node:crypto";
import type { Share } from "../store.ts";

/** Whether this is an instance's to look after. Every instance says the same, as long as they agree who is there. */
export function isInShare(name: string, { rank, of }: Share): boolean {
  return parseInt(hash("sha256", name).slice(0, 8), 16) % of === rank;
}
