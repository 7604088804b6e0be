import type { Tested, WebhookView } from "../operators/webhooks.ts";
import { at } from "./command/ask.ts";
import type { Refused } from "./command/ask.ts";
import { parseSlug } from "./channels/field-options.ts";
import { command } from "./command/command.ts";
import type { Call, Family } from "./command/command.ts";
import { printJson, printTable } from "./command/print.ts";
import { CannotDo } from "./command/terminal.ts";

type OfUrl = Call<{ url?: string }>;

const SLUG = ["<slug>", "the channel", parseSlug] as const;

/** `chat-agent webhooks`: a channel's webhooks and their deliveries. */
export const webhooks: Family = {
  name: "webhooks",
  does: "list, test and replay what a channel's webhooks are told",
  commands: [
    command({
      name: "list",
      does: "the channel's webhooks, what waits for them, and how the last deliveries went",
      takes: [SLUG],
      json: "print a JSON array",
      async asks({ api }, slug) {
        const channel = await api.get<{ webhooks?: { url: string }[] }>(at`/channels/${slug}`);
        const urls = channel.webhooks?.map(({ url }) => url) ?? [];
        const found = await api.all<WebhookView>(at`/channels/${slug}/webhooks`);
        return found.toSorted((a, b) => urls.indexOf(a.url) - urls.indexOf(b.url));
      },
      prints(found, { terminal, options }, slug) {
        if (options.json) return printJson(terminal, found);
        const rows = found.map(({ url, events, waiting, offSince, deliveries: [last] }) => [
          url,
          events === null ? "all" : events.join(" "),
          waiting,
          offSince === null ? "on" : "off (410)",
          last === undefined ? "" : (last.fault ?? "taken"),
        ]);
        const head = ["URL", "EVENTS", "WAITING", "STATE", "LAST"];
        printTable(terminal, head, rows, `Channel ${slug} has no webhooks`);
      },
    }),
    command({
      name: "test",
      does: "send each a test event; one that was off and takes it is on again",
      takes: [SLUG],
      options: [["--url <url>", "only this one"]],
      json: "print a JSON array",
      asks: ({ api, options: { url } }: OfUrl, slug) =>
        api.post<{ items: Tested[] }>(at`/channels/${slug}/webhooks/test`, { url }),
      prints({ items }, { terminal, options }) {
        if (options.json) printJson(terminal, items);
        else
          for (const item of items)
            terminal.out(`${item.url}: ${item.fault ?? `took it (${item.status})`}\n`);
        const failed = items.filter(({ delivered }) => !delivered).map(({ url }) => url);
        if (failed.length > 0) throw new CannotDo(`Cannot tell ${failed.join(", ")}`);
      },
      refused: unknownWebhook,
    }),
    command({
      name: "replay",
      does: "send again now what failed or was given up",
      takes: [SLUG],
      options: [["--url <url>", "only of this one"]],
      json: "print a JSON array",
      asks: ({ api, options: { url } }: OfUrl, slug) =>
        api.post<{ items: { url: string; replayed: number }[] }>(at`/channels/${slug}/webhooks/replay`, {
          url,
        }),
      prints({ items }, { terminal, options }) {
        if (options.json) return printJson(terminal, items);
        for (const { url, replayed } of items) terminal.out(`${url}: ${replayed} sent again\n`);
      },
      refused: unknownWebhook,
    }),
  ],
};

function unknownWebhook({ message }: Refused, { options: { url } }: OfUrl, slug: string): string | undefined {
  if (message !== "Unknown webhook") return undefined;
  const which = url === undefined ? "webhook" : `webhook ${url}`;
  return `Cannot find a ${which}: channel ${slug} has none`;
}
