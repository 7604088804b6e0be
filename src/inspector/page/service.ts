import { readJsonLines } from "../../client/core/json-lines.ts";
import type { ChannelView, Sight, ThreadEntryView, UserView } from "../views.ts";

/** The key is not the inspector's, or no longer. */
export class WrongKey extends Error {}

/** The page's requests to the service. */
export interface Service {
  channels(): Promise<ChannelView[]>;
  users(slug: string): Promise<UserView[]>;
  threads(slug: string, userId: string): Promise<ThreadEntryView[]>;
  /** Calls back with updates of a thread until the signal is aborted; reconnects a broken connection. */
  watch(id: string, seen: (sight: Sight) => void, signal: AbortSignal): Promise<void>;
}

const RETRY_MS = 1_500;

export function createService(key: string): Service {
  async function ask(path: string, signal?: AbortSignal): Promise<Response> {
    const response = await fetch(`/machines/api${path}`, {
      headers: { authorization: `Bearer ${key}` },
      credentials: "omit",
      ...(signal ? { signal } : {}),
    });
    if (response.status === 401) throw new WrongKey("Cannot read: the key is not this service's");
    if (!response.ok) throw new Error(`Cannot read ${path}: the service answered ${response.status}`);
    return response;
  }

  // Casts here and below: the service's answers are what views.ts says.
  const list = async <Item>(path: string) => (await (await ask(path)).json()) as Item[];

  return {
    channels: () => list<ChannelView>("/channels"),
    users: (slug) => list<UserView>(`/channels/${encodeURIComponent(slug)}/users`),
    threads: (slug, userId) =>
      list<ThreadEntryView>(
        `/channels/${encodeURIComponent(slug)}/users/${encodeURIComponent(userId)}/threads`,
      ),
    async watch(id, seen, signal) {
      while (!signal.aborted) {
        try {
          const { body } = await ask(`/threads/${encodeURIComponent(id)}`, signal);
          if (body !== null) {
            for await (const line of readJsonLines(body.getReader())) seen(line as Sight);
          }
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof WrongKey) throw error;
        }
        if (signal.aborted) return;
        seen({ type: "trouble", message: "The connection is gone; trying again" });
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    },
  };
}
