import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** The functions of functions.lua, by what they do. */
export type StoreFunction =
  | "mint_visitor"
  | "admit_visitor"
  | "admit_user"
  | "add_thread"
  | "spend_tokens"
  | "promote"
  | "merge"
  | "flag_user"
  | "change_set"
  | "commit"
  | "keep_part"
  | "wait_in_queue"
  | "beat"
  | "bar"
  | "forget";

/** Functions that only read. */
export type StoreReading = "read_identity" | "find_user" | "load_thread" | "list_runs";

const source = readFileSync(new URL("functions.lua", import.meta.url), "utf8");

/** Names this version of the functions: another text is another library, and both live side by side. */
const version = createHash("sha256").update(source).digest("hex").slice(0, 16);

/** The library as Redis takes it. */
export const library = `#!lua name=chat_agent_${version}\nlocal VERSION = '${version}'\n${source}`;

/** The name by which a function of this version is called. */
export function versioned(name: StoreFunction | StoreReading): string {
  return `${name}_${version}`;
}
