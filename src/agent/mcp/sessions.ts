import type { Call } from "../../../machines/run.ts";
import type { Clock } from "../../clock.ts";
import type { McpServer } from "../../domain/channels/channel.ts";
import type { Log } from "../../log.ts";
import type { Secret } from "../../secret.ts";
import { resolved } from "./connect/address.ts";
import { dropSignIn, finishSignIn, visitorTokens } from "./sign-in/visitor-oauth.ts";
import type { Finished, Grants, OAuthServer } from "./sign-in/visitor-oauth.ts";
import { createVisitorSessions, isVisitors } from "./sign-in/visitor-sessions.ts";
import { MCP_TIMEOUTS, McpSession, NO_LONGER } from "./session.ts";
import type { McpTimeouts, ToolUse } from "./session.ts";
import type { ToolAnswer } from "./tool-result.ts";
import type { ServerTool } from "../tools/tools.ts";

/** A channel's MCP servers, by name, as its settings have them now. */
export type McpServers = Readonly<Record<string, McpServer>>;

/** What the servers of a channel offer now. */
export interface OfferedByServers {
  /** In the order of the settings. */
  tools: ServerTool[];
  /** Names of servers that cannot be used at the moment. */
  missing: string[];
}

/** The sessions with the MCP servers of all channels; each is opened when a run of its channel first needs it. */
export interface McpSessions {
  /** `userId`: for whom; a server at which visitors sign in themselves has tools for each of them. */
  tools(slug: string, servers: McpServers, signal: AbortSignal, userId?: string): Promise<OfferedByServers>;
  call(
    slug: string,
    servers: McpServers,
    use: { call: Call } & Pick<ToolUse, "caller" | "traceparent" | "takesImages" | "waits">,
    signal: AbortSignal,
  ): Promise<ToolAnswer>;
  /** Servers that could not be used the last time that they were needed; and why, where it is known what is missing. */
  ill(): { channel: string; server: string; fault: string | null }[];
  /** Servers of which tools are left out or mended: which, and why. */
  odd(): { channel: string; server: string; oddities: string }[];
  /** Finishes a visitor's sign-in (finishSignIn). Null: nobody began it, or it is over. */
  finishSignIn?(slug: string, servers: McpServers, answer: SignInAnswer): Promise<Finished | null>;
  /** Ends all sessions and processes. */
  close(): Promise<void>;
}

/** What the authorization server sent the visitor back with. `code` null: it, or the visitor, refused. */
export interface SignInAnswer {
  state: string;
  code: string | null;
  iss: string | null;
}

export interface SessionsOptions {
  clock: Clock;
  log: Log;
  timeouts?: McpTimeouts;
  /** May this server of a channel have a private address? Absent: none may. */
  allowsPrivate?: (slug: string, server: McpServer) => boolean;
  /** Absent: settings that name a variable cannot be used. */
  variable?: (name: string, slug: string) => Secret | null;
  /** Absent: visitors cannot sign in. */
  signIns?: SignInsOptions;
  onRequest?: (request: McpRequest) => void;
}

/** Where visitors' grants are kept, and where authorization servers send visitors back to; null: PUBLIC_URL is unset. */
export interface SignInsOptions {
  grants: (slug: string) => Grants;
  redirectUrl: string | null;
}

/** For metrics. */
export interface McpRequest {
  channel: string;
  server: string;
  operation: "list" | "call";
  outcome: "done" | "failed";
}

interface OpenSession {
  session: McpSession;
  /** The settings that the session was made for, as text. */
  madeFor: string;
}

export function createMcpSessions(options: SessionsOptions): McpSessions {
  const {
    clock,
    log,
    timeouts = MCP_TIMEOUTS,
    variable = () => null,
    onRequest = () => {},
    signIns,
  } = options;
  const { allowsPrivate: mayBePrivate = () => false } = options;
  const channels = new Map<string, Map<string, OpenSession>>();
  const closing = new Set<Promise<void>>();

  const optionsOf = (slug: string, name: string, settings: McpServer) => ({
    name,
    channel: slug,
    variable: (variableName: string) => variable(variableName, slug),
    settings,
    allowsPrivate: mayBePrivate(slug, settings),
    timeouts,
    clock,
    log,
  });

  const visitors = createVisitorSessions({
    clock,
    make: (slug, name, settings, userId) => {
      const server = oauthServerOf(slug, name, settings);
      const tokens = server && visitorTokens(server, userId);
      return new McpSession({ ...optionsOf(slug, name, settings), ...(tokens ? { tokens } : {}) });
    },
  });

  /** Null: visitors cannot sign in there. Throws Unusable if a variable of its settings is unset. */
  function oauthServerOf(slug: string, name: string, settings: McpServer | undefined): OAuthServer | null {
    const { grants, redirectUrl = null } = signIns ?? {};
    if (!settings || !isVisitors(settings) || !grants || redirectUrl === null) return null;
    const { url, oauth } = settings;
    const plain = (value: string | undefined) =>
      value === undefined ? null : resolved(value, (variableName) => variable(variableName, slug)).reveal();
    return {
      name,
      slug,
      url,
      clientId: plain(oauth.clientId),
      clientSecret: plain(oauth.clientSecret),
      issuer: oauth.issuer ?? null,
      scope: oauth.scope ?? null,
      allowsPrivate: mayBePrivate(slug, settings),
      redirectUrl,
      grants: grants(slug),
    };
  }

  function sessionFor(
    slug: string,
    servers: McpServers,
    name: string,
    userId: string | undefined,
  ): McpSession | undefined {
    const settings = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (!settings || !isVisitors(settings)) return sessionsOf(slug, servers).get(name)?.session;
    return userId === undefined ? undefined : visitors.get(slug, name, settings, userId);
  }

  /** The channel's sessions as the settings want them: changed and removed servers are retired. */
  function sessionsOf(slug: string, servers: McpServers): Map<string, OpenSession> {
    const held = channels.get(slug) ?? new Map<string, OpenSession>();
    for (const [name, { session, madeFor }] of held) {
      if (Object.hasOwn(servers, name) && madeFor === JSON.stringify(servers[name])) continue;
      held.delete(name);
      const retiring = session.retire().finally(() => closing.delete(retiring));
      closing.add(retiring);
    }
    for (const [name, settings] of Object.entries(servers)) {
      if (held.has(name) || isVisitors(settings)) continue;
      const session = new McpSession(optionsOf(slug, name, settings));
      held.set(name, { session, madeFor: JSON.stringify(settings) });
    }
    if (held.size > 0) channels.set(slug, held);
    else channels.delete(slug);
    return held;
  }

  const all = () =>
    [...channels].flatMap(([channel, held]) =>
      [...held].map(([server, { session }]) => ({ channel, server, session })),
    );

  return {
    async tools(slug, servers, signal, userId) {
      sessionsOf(slug, servers);
      const names = Object.keys(servers);
      if (names.length === 0) return { tools: [], missing: [] };
      const lists = await Promise.all(
        names.map(async (name) => (await sessionFor(slug, servers, name, userId)?.tools(signal)) ?? null),
      );
      for (const [nth, server] of names.entries()) {
        const outcome = lists[nth] ? "done" : "failed";
        onRequest({ channel: slug, server, operation: "list", outcome });
      }
      return {
        tools: lists.flatMap((list) => list ?? []),
        missing: names.filter((_, nth) => !lists[nth]),
      };
    },

    async call(slug, servers, { call, ...use }, signal) {
      const server = call.server ?? "";
      const session = sessionFor(slug, servers, server, use.caller?.userId);
      if (!session) return { text: NO_LONGER, isError: true };
      const answer = await session.call({ ...call, ...use }, signal);
      onRequest({ channel: slug, server, operation: "call", outcome: answer.isError ? "failed" : "done" });
      return answer;
    },

    ill: () =>
      all().flatMap(({ channel, server, session: { isIll, fault } }) =>
        isIll ? [{ channel, server, fault }] : [],
      ),

    odd: () =>
      all().flatMap(({ channel, server, session: { oddities } }) =>
        oddities === null ? [] : [{ channel, server, oddities }],
      ),

    async finishSignIn(slug, servers, { state, code, iss }) {
      const grants = signIns?.grants(slug);
      if (!grants) return null;
      if (code === null) {
        await dropSignIn(grants, state);
        return null;
      }
      const serverOf = (name: string) =>
        oauthServerOf(slug, name, Object.hasOwn(servers, name) ? servers[name] : undefined);
      return finishSignIn({ state, code, iss }, { grants, serverOf });
    },

    async close() {
      await visitors.close();
      const sessions = [...channels.values()].flatMap((held) => [...held.values()]);
      channels.clear();
      await Promise.allSettled([...sessions.map(({ session }) => session.close()), ...closing]);
    },
  };
}
