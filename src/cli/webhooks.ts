import type { Command } from "commander";
import { systemClock } from "../clock.ts";
import type { Channel } from "../domain/channel.ts";
import type { WebhookField } from "../domain/webhook.ts";
import { chosenWebhooks, listWebhooks, replayWebhooks, testWebhooks } from "../operators/webhooks.ts";
import { createSender } from "../webhooks/send.ts";
import { asCommandLine } from "./as-command-line.ts";
import { commandVariables } from "./channel-variables.ts";
import { parseSlug } from "./channels/field-options.ts";
import { existingChannel } from "./existing.ts";
import { printJson, printTable } from "./print.ts";
import { CannotDo } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { withStore } from "./with-store.ts";

interface Options {
  url?: string;
  json?: boolean;
}

/** `chat-agent webhooks`: a channel's webhooks and their deliveries. */
export function addWebhooks(program: Command, terminal: Terminal): void {
  const webhooks = program
    .command("webhooks")
    .description("list, test and replay what a channel's webhooks are told");

  webhooks
    .command("list")
    .description("the channel's webhooks, what waits for them, and how the last deliveries went")
    .argument("<slug>", "the channel", parseSlug)
    .option("--json", "print a JSON array")
    .action((slug: string, { json }: Options) =>
      withStore(terminal, async (store) => {
        const found = await listWebhooks(store, await existingChannel(store, slug));
        if (json) return printJson(terminal, found);
        printTable(
          terminal,
          ["URL", "EVENTS", "WAITING", "STATE", "LAST"],
          found.map(({ url, events, waiting, offSince, deliveries: [last] }) => [
            url,
            events === null ? "all" : events.join(" "),
            waiting,
            offSince === null ? "on" : "off (410)",
            last === undefined ? "" : (last.fault ?? "taken"),
          ]),
          `Channel ${slug} has no webhooks`,
        );
      }),
    );

  webhooks
    .command("test")
    .description("send each a test event; one that was off and takes it is on again")
    .argument("<slug>", "the channel", parseSlug)
    .option("--url <url>", "only this one")
    .option("--json", "print a JSON array")
    .action((slug: string, { url, json }: Options) =>
      withStore(terminal, async (store, config) => {
        const channel = await existingChannel(store, slug);
        const sender = createSender({ clock: systemClock, allowsPrivate: config.webhooksPrivate });
        try {
          const parts = { sender, variables: await commandVariables(terminal, config) };
          const items = await testWebhooks(asCommandLine(store), channel, chosen(channel, url), parts);
          if (json) printJson(terminal, items);
          else
            for (const item of items)
              terminal.out(`${item.url}: ${item.fault ?? `took it (${item.status})`}\n`);
          const failed = items.filter(({ delivered }) => !delivered);
          if (failed.length > 0) throw new CannotDo(`Cannot tell ${failed.map((one) => one.url).join(", ")}`);
        } finally {
          await sender.close();
        }
      }),
    );

  webhooks
    .command("replay")
    .description("send again now what failed or was given up")
    .argument("<slug>", "the channel", parseSlug)
    .option("--url <url>", "only of this one")
    .option("--json", "print a JSON array")
    .action((slug: string, { url, json }: Options) =>
      withStore(terminal, async (store) => {
        const channel = await existingChannel(store, slug);
        const items = await replayWebhooks(asCommandLine(store), channel, chosen(channel, url));
        if (json) return printJson(terminal, items);
        for (const { url: one, replayed } of items) terminal.out(`${one}: ${replayed} sent again\n`);
      }),
    );
}

function chosen(channel: Channel, url: string | undefined): WebhookField[] {
  const found = chosenWebhooks(channel, url);
  if (found.length > 0) return found;
  const which = url === undefined ? "webhook" : `webhook ${url}`;
  throw new CannotDo(`Cannot find a ${which}: channel ${channel.slug} has none`);
}
