import type { Unreadable } from "../../http/operator-api/unreadable.ts";
import type { OperatorApi } from "./ask.ts";
import type { Terminal } from "./terminal.ts";

/** Tells on stderr which records a list leaves out. */
export async function tellUnreadable(
  api: OperatorApi,
  terminal: Terminal,
  kind: Unreadable["items"][number]["kind"],
): Promise<void> {
  const { items } = await api.get<Unreadable>("/unreadable");
  for (const one of items) if (one.kind === kind) terminal.err(`${one.why}\n`);
}
