import type { Clock } from "../clock.ts";
import type { McpServer } from "../domain/channel.ts";
import type { Log } from "../log.ts";
import { abortable } from "./abortable.ts";
import { openConnection } from "./mcp-connection.ts";
import type { McpConnection } from "./mcp-connection.ts";
import { faultOf } from "./mcp-fault.ts";
import { resultText } from "./tool-text.ts";
import type { ServerTool } from "./tools.ts";

/** What a tool answered, or why it could not. */
export interface ToolAnswer {
  /** At most 4,000 characters. */
  text: string;
  isError: boolean;
}

/**
 * One MCP server of a channel, shared by all its runs: connected on first use, its tools listed once and again when the
 * server says that they changed. A server that is down costs its own tools: it is asked again only after a pause that
 * doubles with each failure, and meanwhile the runs go on without it.
 */
export interface McpSession {
  /** Empty while the server cannot be reached. Rejects with the signal's reason alone. */
  tools(signal: AbortSignal): Promise<readonly ServerTool[]>;
  /** Rejects with the signal's reason alone. */
  call(
    call: { tool: string; arguments: Record<string, unknown>; repeatable: boolean },
    signal: AbortSignal,
  ): Promise<ToolAnswer>;
  /** Closes when the calls under way have their answers. */
  retire(): Promise<void>;
  /** Closes now. */
  close(): Promise<void>;
}

export interface McpTimeouts {
  connectMs: number;
  listMs: number;
  callMs: number;
}

export const MCP_TIMEOUTS: McpTimeouts = { connectMs: 5_000, listMs: 5_000, callMs: 60_000 };

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const STDERR_CHARS = 500;

interface Opened {
  connection: McpConnection;
  /** Null: to be listed (again). */
  tools: Promise<readonly ServerTool[]> | null;
}

export function createMcpSession(options: {
  name: string;
  settings: McpServer;
  timeouts: McpTimeouts;
  clock: Clock;
  log: Log;
}): McpSession {
  const { name, settings, timeouts, clock, log } = options;
  const calls = new Set<Promise<unknown>>();
  /** Open or opening. */
  let current: Promise<Opened> | null = null;
  /** Open: what `current` came to. */
  let live: Opened | null = null;
  let failures = 0;
  let nextTryAt = 0;
  let isClosed = false;

  /** Connected, or connecting: for all that ask at once, one connection. */
  function opened(): Promise<Opened> {
    if (current) return current;
    if (isClosed) return Promise.reject(new Error(`Cannot use MCP server ${name}: it is closed`));
    if (clock.elapsed() < nextTryAt) {
      return Promise.reject(new Error(`Cannot use MCP server ${name}: it failed lately`));
    }
    const opening = open();
    current = opening;
    opening.catch((error: unknown) => {
      if (current === opening) current = null;
      noteFailure(error);
    });
    return opening;
  }

  async function open(): Promise<Opened> {
    const state: { opened: Opened | null } = { opened: null };
    const connection = await openConnection({
      name,
      settings,
      timeoutMs: timeouts.connectMs,
      onToolsChanged: () => {
        if (state.opened) state.opened.tools = null;
      },
      onClosed: () => {
        if (state.opened) drop(state.opened);
      },
      onStderr: (text) => log.debug({ server: name, stderr: text.slice(0, STDERR_CHARS) }, "MCP server says"),
    });
    state.opened = { connection, tools: null };
    live = state.opened;
    return state.opened;
  }

  /** The connection is no longer used; the next use opens another one. */
  function drop(dropped: Opened): void {
    if (live !== dropped) return;
    live = null;
    current = null;
    void dropped.connection.close();
  }

  function noteFailure(error: unknown): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    failures += 1;
    nextTryAt = clock.elapsed() + pauseMs;
    if (!isClosed)
      log.warn({ server: name, err: error, pauseMs }, "MCP server cannot be used: its tools are left out");
  }

  async function list(from: Opened): Promise<readonly ServerTool[]> {
    const listing = from.connection.listTools(timeouts.listMs);
    from.tools = listing;
    try {
      const tools = await listing;
      failures = 0;
      return tools;
    } catch (error) {
      drop(from);
      noteFailure(error);
      throw error;
    }
  }

  async function callOnce(
    call: { tool: string; arguments: Record<string, unknown> },
    signal: AbortSignal,
  ): Promise<ToolAnswer | "lost" | "notTaken" | "unreachable"> {
    let using: Opened;
    try {
      using = await abortable(opened(), signal);
    } catch {
      signal.throwIfAborted();
      return "unreachable";
    }
    try {
      const result = await using.connection.callTool(call, { timeoutMs: timeouts.callMs, signal });
      return { text: answerText(result), isError: result["isError"] === true };
    } catch (error) {
      signal.throwIfAborted();
      const fault = faultOf(error);
      switch (fault.type) {
        case "answered":
          return { text: resultText(fault.message), isError: true };
        case "timedOut":
          return {
            text: `The tool did not answer within ${timeouts.callMs / 1_000} seconds. Whether it did its work is unknown.`,
            isError: true,
          };
        case "lost":
        case "notTaken":
          log.warn({ server: name, err: error }, "lost the connection to an MCP server");
          drop(using);
          return fault.type;
      }
    }
  }

  async function call(
    made: { tool: string; arguments: Record<string, unknown>; repeatable: boolean },
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const first = await callOnce(made, signal);
    const mayRepeat = first === "notTaken" || (first === "lost" && made.repeatable);
    const answer = mayRepeat ? await callOnce(made, signal) : first;
    if (typeof answer === "object") return answer;
    return answer === "lost"
      ? { text: "The connection to the tool was lost. Whether it did its work is unknown.", isError: true }
      : { text: "The tool cannot be reached at the moment.", isError: true };
  }

  async function close(): Promise<void> {
    isClosed = true;
    const opening = current;
    current = null;
    live = null;
    if (!opening) return;
    try {
      await (await opening).connection.close();
    } catch {
      // It never opened: nothing to close.
    }
  }

  return {
    async tools(signal) {
      try {
        const from = await abortable(opened(), signal);
        return await abortable(from.tools ?? list(from), signal);
      } catch {
        signal.throwIfAborted();
        return [];
      }
    },

    call(made, signal) {
      const answering = call(made, signal);
      calls.add(answering);
      const forget = () => calls.delete(answering);
      answering.then(forget, forget);
      return answering;
    },

    async retire() {
      await Promise.allSettled(calls);
      await close();
    },

    close,
  };
}

/** MCP lets a tool answer in structured content alone. */
function answerText(result: Record<string, unknown>): string {
  const { content, structuredContent } = result;
  const hasContent = Array.isArray(content) && content.length > 0;
  return resultText(hasContent || structuredContent === undefined ? result : structuredContent);
}
