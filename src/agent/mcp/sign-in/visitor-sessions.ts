import type { Clock } from "../../../clock.ts";
import type { McpHttpServer, McpServer, VisitorOAuth } from "../../../domain/channels/channel.ts";
import type { McpSession } from "../session.ts";

/** A server at which each visitor signs in: what it offers, and answers, is that visitor's. */
export type VisitorsServer = McpHttpServer & { oauth: VisitorOAuth };

export function isVisitors(server: McpServer): server is VisitorsServer {
  return "url" in server && server.oauth?.perUser === true;
}

/** A visitor who writes nothing for so long is connected anew. */
const IDLE_MS = 300_000;
/** Connections of one process to such servers; the one that was idle longest makes room. */
const MOST = 500;

/** Sessions that are one visitor's each: never shared, closed when they are idle, and remade when the settings change. */
export interface VisitorSessions {
  get(slug: string, name: string, settings: VisitorsServer, userId: string): McpSession;
  close(): Promise<void>;
}

interface Held {
  session: McpSession;
  /** The settings that the session was made for, as text. */
  madeFor: string;
  usedAtMs: number;
}

export function createVisitorSessions({
  clock,
  make,
}: {
  clock: Pick<Clock, "elapsed">;
  make: (slug: string, name: string, settings: VisitorsServer, userId: string) => McpSession;
}): VisitorSessions {
  /** The least recently used first. */
  const held = new Map<string, Held>();
  const retiring = new Set<Promise<void>>();

  function retire(key: string, { session }: Held): void {
    held.delete(key);
    const ending = session.retire().finally(() => retiring.delete(ending));
    retiring.add(ending);
  }

  function tidy(): void {
    for (const [key, one] of held) {
      if (held.size <= MOST && clock.elapsed() - one.usedAtMs < IDLE_MS) break;
      retire(key, one);
    }
  }

  return {
    get(slug, name, settings, userId) {
      const key = JSON.stringify([slug, name, userId]);
      const madeFor = JSON.stringify(settings);
      const known = held.get(key);
      if (known && known.madeFor !== madeFor) retire(key, known);
      const session = known?.madeFor === madeFor ? known.session : make(slug, name, settings, userId);
      held.delete(key);
      held.set(key, { session, madeFor, usedAtMs: clock.elapsed() });
      tidy();
      return session;
    },

    async close() {
      const sessions = [...held.values()].map(({ session }) => session.close());
      held.clear();
      await Promise.allSettled([...sessions, ...retiring]);
    },
  };
}
