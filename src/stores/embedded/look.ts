import type { Rule } from "../backup/rules.ts";
import type { Key } from "./db.ts";

/** A broken rule of one kind of records, and how to repair it. Within a read or a change. */
export interface Broken {
  rule: Rule;
  mend?: () => void;
}
export type Look = (key: Key, value: unknown) => Broken | null;
