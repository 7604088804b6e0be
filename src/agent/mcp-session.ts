import type { Clock } from "../clock.ts";
import type { McpServer } from "../domain/channel.ts";
import { resultText } from "../domain/tool-text.ts";
import type { Log } from "../log.ts";
import { abortable } from "./abortable.ts";
import { faultOf } from "./mcp-fault.ts";
import { createMcpLink } from "./mcp-link.ts";
import type { McpLine } from "./mcp-link.ts";
import type { ServerTool } from "./tools.ts";

/** What a tool answered, or why it could not. */
export interface ToolAnswer {
  /** At most 4,000 characters. */
  text: string;
  isError: boolean;
}

export interface ToolUse {
  tool: string;
  arguments: Record<string, unknown>;
  /** May be made again where it is unknown whether it was done. */
  repeatable: boolean;
}

/**
 * One MCP server of a channel, shared by all its runs. Its tools are listed once, and again when it says that they
 * changed. A server that is down costs its own tools, not the run.
 */
export interface McpSession {
  /** Empty while the server cannot be used. Rejects with the signal's reason alone. */
  tools(signal: AbortSignal): Promise<readonly ServerTool[]>;
  /** Rejects with the signal's reason alone. */
  call(use: ToolUse, signal: AbortSignal): Promise<ToolAnswer>;
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

/** A call that got no answer; see McpFault. `unreachable`: it was never sent. */
type NoAnswer = "lost" | "notTaken" | "unreachable";

export function createMcpSession(options: {
  name: string;
  settings: McpServer;
  timeouts: McpTimeouts;
  clock: Clock;
  log: Log;
}): McpSession {
  const { name, settings, timeouts, clock, log } = options;
  const link = createMcpLink({ name, settings, connectMs: timeouts.connectMs, clock, log });
  const underWay = new Set<Promise<unknown>>();

  async function list(line: McpLine): Promise<readonly ServerTool[]> {
    line.tools ??= line.connection.listTools(timeouts.listMs).then(
      (tools) => {
        link.noteSuccess();
        return tools;
      },
      (error: unknown) => {
        link.drop(line);
        link.noteFailure(error);
        throw error;
      },
    );
    return line.tools;
  }

  async function callOnce(use: ToolUse, signal: AbortSignal): Promise<ToolAnswer | NoAnswer> {
    let line: McpLine;
    try {
      line = await abortable(link.line(), signal);
    } catch {
      signal.throwIfAborted();
      return "unreachable";
    }
    try {
      const result = await line.connection.callTool(use, { timeoutMs: timeouts.callMs, signal });
      return { text: answerText(result), isError: result["isError"] === true };
    } catch (error) {
      signal.throwIfAborted();
      const fault = faultOf(error);
      switch (fault.type) {
        case "answered":
          return { text: resultText(fault.message), isError: true };
        case "timedOut": {
          const seconds = timeouts.callMs / 1_000;
          return failed(
            `The tool did not answer within ${seconds} seconds. Whether it did its work is unknown.`,
          );
        }
        case "lost":
        case "notTaken":
          log.warn({ server: name, err: error }, "lost the connection to an MCP server");
          link.drop(line);
          return fault.type;
      }
    }
  }

  async function call(use: ToolUse, signal: AbortSignal): Promise<ToolAnswer> {
    const first = await callOnce(use, signal);
    const mayRepeat = first === "notTaken" || (first === "lost" && use.repeatable);
    const answer = mayRepeat ? await callOnce(use, signal) : first;
    if (typeof answer === "object") return answer;
    return answer === "lost"
      ? failed("The connection to the tool was lost. Whether it did its work is unknown.")
      : failed("The tool cannot be reached at the moment.");
  }

  return {
    async tools(signal) {
      try {
        return await abortable(list(await abortable(link.line(), signal)), signal);
      } catch {
        // Logged where it happened.
        signal.throwIfAborted();
        return [];
      }
    },

    async call(use, signal) {
      const answering = call(use, signal);
      underWay.add(answering);
      try {
        return await answering;
      } finally {
        underWay.delete(answering);
      }
    },

    async retire() {
      await Promise.allSettled(underWay);
      await link.close();
    },

    close: () => link.close(),
  };
}

function failed(text: string): ToolAnswer {
  return { text, isError: true };
}

/** MCP lets a tool answer in structured content alone. */
function answerText(result: Record<string, unknown>): string {
  const { content, structuredContent } = result;
  const hasContent = Array.isArray(content) && content.length > 0;
  return resultText(hasContent || structuredContent === undefined ? result : structuredContent);
}
