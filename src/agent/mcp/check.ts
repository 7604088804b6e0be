import type { McpServer } from "../../domain/channels/channel.ts";
import type { OddTool } from "./read-tool.ts";
import { McpSession, MCP_TIMEOUTS } from "./session.ts";
import type { SessionOptions } from "./session.ts";
import type { McpServers } from "./sessions.ts";

/** What was seen of one MCP server of a channel. */
export interface McpReport {
  server: string;
  /** Why it cannot be used; null: it can. */
  fault: string | null;
  /** Which revision of MCP it speaks, and over what; absent: it cannot be used. */
  speaks?: string;
  tools: { name: string; offered: boolean; repeatable: boolean; destructive: boolean }[];
  /** Tools that are left out, or offered in a mended form; absent: none. */
  odd?: readonly OddTool[];
}

/** Connects to each server of a channel as a run would, and lists its tools. */
export async function checkMcpServers(
  channel: string,
  servers: McpServers,
  dependencies: Pick<SessionOptions, "clock" | "log" | "variable"> & {
    allowsPrivate: (slug: string, server: McpServer) => boolean;
    signal: AbortSignal;
  },
): Promise<McpReport[]> {
  const { signal, allowsPrivate: mayBePrivate, ...rest } = dependencies;
  return Promise.all(
    Object.entries(servers).map(async ([server, settings]): Promise<McpReport> => {
      const allowsPrivate = mayBePrivate(channel, settings);
      const common = { channel, timeouts: MCP_TIMEOUTS, allowsPrivate, ...rest };
      const session = new McpSession({ ...common, name: server, settings });
      try {
        const { tools, odd } = await session.allTools(signal);
        return {
          server,
          fault: null,
          speaks: await session.spoken(),
          ...(odd.length === 0 ? {} : { odd }),
          tools: tools.map((tool) => {
            const { name, repeatable, destructive } = tool;
            return { name, offered: session.offers(tool), repeatable, destructive };
          }),
        };
      } catch (error) {
        signal.throwIfAborted();
        return { server, fault: faultOf(error), tools: [] };
      } finally {
        await session.close();
      }
    }),
  );
}

/** In words for the operator, who knows the address. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return "it failed";
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  if (error.name === "TimeoutError") return "it did not answer in time";
  return `${error.message}${cause}`;
}
