import type { Call } from "../../../machines/run.ts";
import type { Clock } from "../../clock.ts";
import type { McpServer } from "../../domain/channel.ts";
import type { Log } from "../../log.ts";
import { MCP_TIMEOUTS, McpSession } from "./session.ts";
import type { McpTimeouts, ToolAnswer } from "./session.ts";
import type { ServerTool } from "../tools.ts";

/** A channel's MCP servers, by name, as its settings have them now. */
export type McpServers = Readonly<Record<string, McpServer>>;

/** The sessions with the MCP servers of all channels; each is opened when a run of its channel first needs it. */
export interface McpSessions {
  /** In the order of the settings. Servers that cannot be reached are left out. */
  tools(slug: string, servers: McpServers, signal: AbortSignal): Promise<ServerTool[]>;
  call(slug: string, servers: McpServers, call: Call, signal: AbortSignal): Promise<ToolAnswer>;
  /** Ends all sessions and processes. */
  close(): Promise<void>;
}

interface OpenSession {
  session: McpSession;
  /** The settings that the session was made for, as text. */
  madeFor: string;
}

export function createMcpSessions(options: { clock: Clock; log: Log; timeouts?: McpTimeouts }): McpSessions {
  const { clock, log, timeouts = MCP_TIMEOUTS } = options;
  const channels = new Map<string, Map<string, OpenSession>>();
  const closing = new Set<Promise<void>>();

  /** The channel's sessions as the settings want them: changed and removed servers are retired. */
  function sessionsOf(slug: string, servers: McpServers): Map<string, OpenSession> {
    const held = channels.get(slug) ?? new Map<string, OpenSession>();
    for (const [name, { session, madeFor }] of held) {
      if (madeFor === JSON.stringify(servers[name])) continue;
      held.delete(name);
      const retiring = session.retire().finally(() => closing.delete(retiring));
      closing.add(retiring);
    }
    for (const [name, settings] of Object.entries(servers)) {
      if (held.has(name)) continue;
      const session = new McpSession({ name, settings, timeouts, clock, log });
      held.set(name, { session, madeFor: JSON.stringify(settings) });
    }
    if (held.size > 0) channels.set(slug, held);
    else channels.delete(slug);
    return held;
  }

  return {
    async tools(slug, servers, signal) {
      const held = sessionsOf(slug, servers);
      const lists = await Promise.all(
        Object.keys(servers).map(async (name) => (await held.get(name)?.session.tools(signal)) ?? []),
      );
      return lists.flat();
    },

    async call(slug, servers, call, signal) {
      const session = sessionsOf(slug, servers).get(call.server ?? "")?.session;
      if (!session) return { text: "This tool is no longer available.", isError: true };
      return session.call(call, signal);
    },

    async close() {
      const sessions = [...channels.values()].flatMap((held) => [...held.values()]);
      channels.clear();
      await Promise.allSettled([...sessions.map(({ session }) => session.close()), ...closing]);
    },
  };
}
