import { InvalidArgumentError } from "commander";
import { MAX_OVERLAP_HOURS } from "../../domain/channels/older-keys.ts";
import { at } from "../command/ask.ts";
import type { Refused } from "../command/ask.ts";
import { command } from "../command/command.ts";
import type { Call, Command, Family } from "../command/command.ts";
import { printFields, printJson, printTable } from "../command/print.ts";
import { tellUnreadable } from "../command/unreadable.ts";
import { changeOf, newChannelOf } from "./change.ts";
import type { ChannelView } from "./change.ts";
import { FIELDS, ORIGIN_CHANGES, parseSlug } from "./field-options.ts";
import type { FieldOptions } from "./field-options.ts";

const SLUG = ["<slug>", ""] as const;

/** `chat-agent channels`: the channels' keys, origins and settings. */
export const channels: Family = {
  name: "channels",
  does: "list, create and change channels",
  commands: [
    command({
      name: "list",
      does: "all channels",
      json: "print a JSON array",
      async asks({ api, terminal }) {
        await tellUnreadable(api, terminal, "channel");
        return api.all<ChannelView>("/channels");
      },
      prints(found, { terminal, options }) {
        if (options.json) return printJson(terminal, found);
        const rows = found.map(({ slug, kind, enabled, accessMode, allowedOrigins = [] }) => [
          slug,
          kind,
          enabled,
          accessMode,
          allowedOrigins.join(" ") || null,
        ]);
        const head = ["SLUG", "KIND", "ENABLED", "ACCESS", "ORIGINS"];
        printTable(terminal, head, rows, "There are no channels yet");
      },
    }),
    command({
      name: "show",
      does: "one channel",
      takes: [SLUG],
      json: "print JSON",
      asks: ({ api }, slug) => api.get<ChannelView>(at`/channels/${slug}`),
      prints: printChannel,
    }),
    command({
      name: "create",
      does: "make a channel; prints the keys that it makes, this once",
      takes: [["<slug>", "1 to 64 of a-z 0-9 - _", parseSlug]],
      options: FIELDS,
      json: "print the channel as JSON",
      asks({ api, options, misuse }: Call<FieldOptions>, slug) {
        if (options.kind === undefined) return misuse("a new channel needs --kind web or --kind transport");
        return api.post<ChannelView>("/channels", newChannelOf(slug, options));
      },
      prints: printChannel,
      refused: (refused, call, slug) =>
        refused.message === "There is a channel of that slug"
          ? `Cannot create channel ${slug}: it exists; see channels update`
          : notWritten(refused, call, slug),
    }),
    command({
      name: "update",
      does: "change the fields that are given",
      takes: [SLUG],
      options: [...FIELDS, ...ORIGIN_CHANGES],
      json: "print the channel as JSON",
      async asks({ api, options }: Call<FieldOptions>, slug) {
        const path = at`/channels/${slug}`;
        return api.patch<ChannelView>(path, changeOf(await api.get<ChannelView>(path), options));
      },
      prints: printChannel,
      refused: notWritten,
    }),
    switched("enable", "let users in again", true),
    switched("disable", "refuse every user of a channel", false),
    command({
      name: "rotate-keys",
      does: "make both keys of a web channel anew and print them; the old ones end at once, or after the overlap",
      takes: [SLUG],
      options: [["--overlap <hours>", "so long the old keys stay valid, too", hoursOption]],
      json: "print the channel as JSON",
      asks: ({ api, options }: Call<{ overlap?: number }>, slug) =>
        api.post<ChannelView>(at`/channels/${slug}/rotate-keys`, { overlapHours: options.overlap }),
      prints: printChannel,
      refused: ({ status }, _, slug) =>
        status === 409
          ? `Cannot rotate the keys of channel ${slug}: a transport channel has none`
          : undefined,
    }),
  ],
};

function switched(name: string, does: string, enabled: boolean): Command {
  return command({
    name,
    does,
    takes: [SLUG],
    json: "print the channel as JSON",
    options: enabled ? [] : [["--stop", "stop the channel's runs, and what waits behind them"]],
    async asks({ api, options, terminal }: Call<{ stop?: boolean }>, slug) {
      const channel = await api.patch<ChannelView>(at`/channels/${slug}`, { enabled });
      if (options.stop) {
        const { threads } = await api.post<{ threads: number }>(at`/channels/${slug}/stop`);
        terminal.err(`Stopped in ${threads} threads\n`);
      }
      return channel;
    },
    prints: printChannel,
    refused: notWritten,
  });
}

function printChannel(channel: ChannelView, { terminal, options }: Call): void {
  if (options.json) printJson(terminal, channel);
  else printFields(terminal, channel);
}

/** Fields that make no channel are incorrect use; what only this installation refuses is not. */
function notWritten(
  { status, message }: Refused,
  { misuse }: Pick<Call, "misuse">,
  slug: string,
): string | undefined {
  const setting = { Webhook: "WEBHOOKS_PRIVATE", "MCP server": "MCP_PRIVATE" };
  for (const [what, name] of Object.entries(setting)) {
    if (message.startsWith(`${what} `) && message.endsWith(" has no public address"))
      return `Cannot write channel ${slug}: ${what.replace("W", "w")}${message.slice(what.length)}, and ${name} is off`;
  }
  if (status === 409) return `Cannot write channel ${slug}: ${message}`;
  if (status !== 422 || message.startsWith("Cannot ")) return undefined;
  return /^\S+ names \$/.test(message) ? `Cannot write channel ${slug}: ${message}` : misuse(message);
}

/** `24` or `24h`. */
function hoursOption(text: string): number {
  const hours = /^\d+(?:\.\d+)?h?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (hours <= MAX_OVERLAP_HOURS) return hours;
  throw new InvalidArgumentError(`It takes hours, at most ${MAX_OVERLAP_HOURS}.`);
}
