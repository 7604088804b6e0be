import type { Rule } from "../backup/rules.ts";
import type { Key } from "./db.ts";

/** A rule of one kind of records: when it is broken, and how it is mended. Within a read or a change. */
export interface Broken {
  rule: Rule;
  mend?: () => void;
}
export type Look = (key: Key, value: unknown) => Broken | null;
