import type { Client, ClientOptions, HistoryItem, ListedThread } from "./client.d.ts";
import { followEvents } from "./follow-events.ts";
import { queryOf } from "./query.ts";
import { createRequests } from "./requests.ts";
import { sendMessage } from "./send.ts";

/** The server API for other programs; what it does is told to them in client.d.ts. */
export function createClient(options: ClientOptions): Client {
  const requests = createRequests(options);
  const { channel = "cli" } = options;

  return {
    send: (message, how) => sendMessage(requests, { channel, ...message }, how),
    events: (thread, how) => followEvents(requests, { channel, ...thread }, how),

    async history({ threadId, ...query }, how) {
      const path = `threads/${encodeURIComponent(threadId)}/messages?${queryOf({ channel, ...query })}`;
      // Casts here and below: the service's answers are what the types say.
      return ((await (await requests.insist(path, how)).json()) as { items: HistoryItem[] }).items;
    },

    async threads(query, how) {
      const response = await requests.insist(`threads?${queryOf({ channel, ...query })}`, how);
      return (await response.json()) as { items: ListedThread[]; next: string | null };
    },

    async cancel(thread, how) {
      await requests.insist("messages/cancel", { ...how, body: { channel, ...thread } });
    },

    async access(user, how) {
      const response = await requests.insist("access", { ...how, body: { channel, ...user } });
      return (await response.json()) as { allowed: boolean; userId: string };
    },

    async identify({ channel: slug, secretKey: key, ...body }, how) {
      const path = `channels/${encodeURIComponent(slug)}/identify`;
      // A repeat with `rotate` would name a token that is over: it is asked once.
      const sent = { ...how, key, body };
      const response = await (body.rotate ? requests.ask(path, sent) : requests.insist(path, sent));
      return (await response.json()) as Awaited<ReturnType<Client["identify"]>>;
    },
  };
}
