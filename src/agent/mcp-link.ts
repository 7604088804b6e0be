import type { Clock } from "../clock.ts";
import type { McpServer } from "../domain/channel.ts";
import type { Log } from "../log.ts";
import { openConnection } from "./mcp-connection.ts";
import type { McpConnection } from "./mcp-connection.ts";
import type { ServerTool } from "./tools.ts";

/** An open connection, and what is known of its tools. */
export interface McpLine {
  connection: McpConnection;
  /** Null: to be listed, for the first time or again. */
  tools: Promise<readonly ServerTool[]> | null;
}

/**
 * The way to one MCP server: opened when it is first needed, one for all that need it, opened anew when it broke. After
 * a failure it is not tried again before a pause has passed that doubles with each failure.
 */
export interface McpLink {
  /** Rejects where it cannot be opened, or failed too short a time ago. */
  line(): Promise<McpLine>;
  /** The line is broken: the next use opens another one. */
  drop(line: McpLine): void;
  /** Opening or listing failed. */
  noteFailure(error: unknown): void;
  /** Opening and listing went well. */
  noteSuccess(): void;
  /** For good. */
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const STDERR_CHARS = 500;

export function createMcpLink(options: {
  name: string;
  settings: McpServer;
  connectMs: number;
  clock: Clock;
  log: Log;
}): McpLink {
  const { name, settings, connectMs, clock, log } = options;
  let opening: Promise<McpLine> | null = null;
  /** What `opening` came to; null until then. */
  let open: McpLine | null = null;
  let failures = 0;
  let nextTryAt = 0;
  let isClosed = false;

  async function openLine(): Promise<McpLine> {
    let line: McpLine | null = null;
    const connection = await openConnection({
      name,
      settings,
      timeoutMs: connectMs,
      onToolsChanged: () => {
        if (line) line.tools = null;
      },
      onClosed: () => {
        if (line) drop(line);
      },
      onStderr: (text) => log.debug({ server: name, stderr: text.slice(0, STDERR_CHARS) }, "MCP server says"),
    });
    line = { connection, tools: null };
    open = line;
    return line;
  }

  function drop(line: McpLine): void {
    if (open !== line) return;
    open = null;
    opening = null;
    void line.connection.close();
  }

  function noteFailure(error: unknown): void {
    if (isClosed) return;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    failures += 1;
    nextTryAt = clock.elapsed() + pauseMs;
    log.warn({ server: name, err: error, pauseMs }, "MCP server cannot be used: its tools are left out");
  }

  return {
    async line() {
      if (opening) return opening;
      if (isClosed) throw new Error(`Cannot use MCP server ${name}: it is closed`);
      if (clock.elapsed() < nextTryAt) throw new Error(`Cannot use MCP server ${name}: it failed lately`);
      opening = openLine();
      try {
        return await opening;
      } catch (error) {
        opening = null;
        noteFailure(error);
        throw error;
      }
    },

    drop,
    noteFailure,
    noteSuccess: () => (failures = 0),

    async close() {
      isClosed = true;
      const line = await opening?.catch(() => null);
      opening = null;
      open = null;
      await line?.connection.close();
    },
  };
}
