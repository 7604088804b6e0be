import type { ServerTool } from "../tools/tools.ts";
import { leftOut, readTool } from "./read-tool.ts";
import type { OddTool } from "./read-tool.ts";

/** A server that pages for ever has as many tools as these pages hold. */
const MAX_LIST_PAGES = 20;
const MAX_TOOLS = 1_000;
/** Kept in memory, for each server. */
const MOST_LIST_CHARS = 2_000_000;

/** What a server offers. */
export interface ListedTools {
  tools: readonly ServerTool[];
  /** Tools that are left out, or offered in a mended form. */
  odd: readonly OddTool[];
  /** How long the list holds, as the server says (MCP 2026-07-28, Caching); null: it does not say. */
  ttlMs: number | null;
}

/** Asks for one page. */
type AskPage = (params: { cursor?: string }) => Promise<Record<string, unknown>>;

/**
 * All tools of a server, page by page, each read by itself. `nextCursor` is no cursor if it is no text (MCP asks for a string
 * or nothing; servers also send null and ""). A cursor that comes again, or a page without a new name, ends the list: such a
 * server answers the same page for ever. `unfit`: why a tool with this schema cannot be called at all; null: it can.
 */
export async function listTools(
  server: string,
  ask: AskPage,
  unfit: (schema: Record<string, unknown>) => string | null = () => null,
): Promise<ListedTools> {
  const tools: ServerTool[] = [];
  const odd: OddTool[] = [];
  const names = new Set<string>();
  const cursors = new Set<string>();
  let chars = 0;
  let cursor: string | null = null;
  let ttlMs: number | null = null;
  for (let page = 0; page < MAX_LIST_PAGES && tools.length < MAX_TOOLS; page += 1) {
    const { tools: listed, nextCursor, ttlMs: holds } = await ask(cursor === null ? {} : { cursor });
    if (!Array.isArray(listed)) throw new Error("The answer to tools/list has no list of tools");
    if (typeof holds === "number" && holds >= 0) ttlMs = Math.min(holds, ttlMs ?? holds);
    const repeated: string[] = [];
    const namesBefore = names.size;
    for (const untrusted of listed.slice(0, MAX_TOOLS)) {
      let read = readTool(server, untrusted);
      const name = read.tool?.name ?? read.odd?.name ?? null;
      if (name !== null && names.has(name)) {
        repeated.push(name);
        continue;
      }
      if (name !== null) names.add(name);
      const fault = read.tool === null ? null : unfit(read.tool.inputSchema);
      if (fault !== null) read = leftOut(name, fault);
      if (chars + read.chars > MOST_LIST_CHARS) {
        read = leftOut(name, `the tools of its server have more than ${MOST_LIST_CHARS} characters`);
      }
      chars += read.chars;
      if (read.tool) tools.push(read.tool);
      if (read.odd) odd.push(read.odd);
    }
    // A whole page that came before is a fault of the pages; a name among others, one of the tools.
    const isNew = names.size > namesBefore;
    if (isNew) odd.push(...repeated.flatMap((name) => leftOut(name, "its name is there twice").odd ?? []));
    if (!isNew || typeof nextCursor !== "string" || nextCursor === "" || cursors.has(nextCursor)) break;
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  return { tools: tools.slice(0, MAX_TOOLS), odd, ttlMs };
}

/** A server that keeps no session cannot say that its tools changed, and one that does may be restarted with others. */
const LIST_AGAIN_MS = 300_000;
/** Bounds of what a server says instead (`ttlMs`): no request for every turn, and no list for good. */
const LIST_SOONEST_MS = 10_000;
const LIST_LATEST_MS = 86_400_000;

/** How long a list is used before the server is asked again. */
export function holdsMs({ ttlMs }: ListedTools): number {
  return ttlMs === null ? LIST_AGAIN_MS : Math.min(Math.max(ttlMs, LIST_SOONEST_MS), LIST_LATEST_MS);
}
