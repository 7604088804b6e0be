import type {
  Access,
  Client,
  ClientOptions,
  HistoryItem,
  Identified,
  MessageFile,
  Spoken,
  ThreadPage,
} from "./client.d.ts";
import { followEvents } from "./follow-events.ts";
import { queryOf } from "./query.ts";
import { createRequests } from "./requests.ts";
import { sendMessage } from "./send.ts";

const threadOf = (threadId: string) => `threads/${encodeURIComponent(threadId)}`;

/** The server API for other programs; client.d.ts documents it. */
export function createClient(options: ClientOptions): Client {
  const requests = createRequests(options);
  const { channel = "cli" } = options;

  const inChannel = <Given extends { channel?: string }>(given: Given) => ({
    ...given,
    channel: given.channel ?? channel,
  });

  return {
    send: (message, how) => sendMessage(requests, "messages", inChannel(message), how),

    regenerate: ({ threadId, ...wanted }, how) =>
      sendMessage(requests, `${threadOf(threadId)}/regenerate`, inChannel(wanted), how),

    async say({ threadId, ...said }, how) {
      const body = inChannel({ ...said, clientMessageId: said.clientMessageId ?? crypto.randomUUID() });
      const response = await requests.insist(`${threadOf(threadId)}/say`, { ...how, body });
      return (await response.json()) as Spoken;
    },

    async sendFile({ threadId, data, ...named }, how) {
      const path = `${threadOf(threadId)}/files?${queryOf(inChannel(named))}`;
      const response = await requests.insist(path, { ...how, file: data });
      return (await response.json()) as MessageFile;
    },

    async approve({ threadId, ...decided }, how) {
      await requests.insist(`${threadOf(threadId)}/approvals`, { ...how, body: inChannel(decided) });
    },

    events: (thread, how) => followEvents(requests, inChannel(thread), how),

    async history({ threadId, ...query }, how) {
      const path = `${threadOf(threadId)}/messages?${queryOf(inChannel(query))}`;
      // Casts here and below: the service's answers are what the types say.
      return ((await (await requests.insist(path, how)).json()) as { items: HistoryItem[] }).items;
    },

    async threads(query, how) {
      const response = await requests.insist(`threads?${queryOf({ ...inChannel(query) })}`, how);
      return (await response.json()) as ThreadPage;
    },

    async cancel(run, how) {
      await requests.insist("messages/cancel", { ...how, body: inChannel(run) });
    },

    async feedback({ threadId, ...given }, how) {
      await requests.insist(`${threadOf(threadId)}/feedback`, { ...how, body: inChannel(given) });
    },

    async access(user, how) {
      const response = await requests.insist("access", { ...how, body: inChannel(user) });
      return (await response.json()) as Access;
    },

    async identify({ channel: slug, secretKey: key, ...body }, how) {
      const path = `channels/${encodeURIComponent(slug)}/identify`;
      // Sent once with `rotate`: a repeat would name a token that is no longer valid.
      const sent = { ...how, key, body };
      const response = await (body.rotate ? requests.ask(path, sent) : requests.insist(path, sent));
      return (await response.json()) as Identified;
    },
  };
}
