import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { MAX_OVERLAP_HOURS } from "../../domain/older-keys.ts";
import { newChannelKeys } from "../../keys.ts";
import { keptKeys } from "../../installation/kept-keys.ts";
import { NewerRecord, UnreadableRecord } from "../../store.ts";
import type { Store } from "../../store.ts";
import { channelView } from "../../operators/channel-secrets.ts";
import { rotateKeys, untilWritten } from "../../operators/channels.ts";
import { stopChannel } from "../../operators/stop-runs.ts";
import { asCommandLine } from "../as-command-line.ts";
import { existingChannel } from "../existing.ts";
import { printJson, printTable } from "../print.ts";
import { CannotDo } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";
import { threadsToStop } from "../threads-to-stop.ts";
import { withStore } from "../with-store.ts";
import { parseSlug, withFieldOptions, withOriginChanges } from "./field-options.ts";
import type { FieldOptions } from "./field-options.ts";
import { printChannel } from "./print-channel.ts";
import { mayWrite, writeOptions } from "./write-channel.ts";

interface JsonOption {
  json?: boolean;
}

/** `chat-agent channels`: the channels' keys, origins and settings. */
export function addChannels(program: Command, terminal: Terminal): void {
  const channels = program.command("channels").description("list, create and change channels");
  addList(channels, terminal);
  addShow(channels, terminal);
  addCreate(channels, terminal);
  addUpdate(channels, terminal);
  addSwitch(channels, terminal, { name: "enable", enabled: true, does: "let users in again" });
  addSwitch(channels, terminal, { name: "disable", enabled: false, does: "refuse every user of a channel" });
  addRotateKeys(channels, terminal);
}

function addList(channels: Command, terminal: Terminal): void {
  channels
    .command("list")
    .description("all channels")
    .option("--json", "print a JSON array")
    .action(async (options: JsonOption) => {
      await withStore(terminal, async (store) => {
        const found = await store.channels(({ error }) => terminal.err(`${error.message}\n`));
        if (options.json)
          return printJson(
            terminal,
            found.map((channel) => channelView(channel)),
          );
        printTable(
          terminal,
          ["SLUG", "KIND", "ENABLED", "ACCESS", "ORIGINS"],
          found.map((channel) => [
            channel.slug,
            channel.kind,
            channel.enabled,
            channel.accessMode,
            channel.allowedOrigins.join(" ") || null,
          ]),
          "There are no channels yet",
        );
      });
    });
}

function addShow(channels: Command, terminal: Terminal): void {
  channels
    .command("show")
    .description("one channel")
    .argument("<slug>")
    .option("--json", "print JSON")
    .action(async (slug: string, options: JsonOption) => {
      await withStore(terminal, async (store) =>
        printChannel(terminal, await existingChannel(store, slug), options),
      );
    });
}

function addCreate(channels: Command, terminal: Terminal): void {
  withFieldOptions(channels.command("create"))
    .description("make a channel; prints the keys that it makes, this once")
    .argument("<slug>", "1 to 64 of a-z 0-9 - _", parseSlug)
    .action(async (slug: string, options: FieldOptions, command: Command) => {
      if (options.kind === undefined)
        command.error("error: a new channel needs --kind web or --kind transport");
      await withStore(terminal, async (store, config) => {
        const exists = () => new CannotDo(`Cannot create channel ${slug}: it exists; see channels update`);
        if (await mayNotMake(store, slug)) throw exists();
        const made = newChannelKeys();
        const withKeys =
          options.kind === "web"
            ? {
                ...options,
                publishableKey: options.publishableKey ?? made.publishableKey,
                secretKey: options.secretKey ?? made.secretKey.reveal(),
              }
            : options;
        const channel = await writeOptions(
          { store, terminal, config },
          { slug, stored: null },
          withKeys,
          command,
        );
        if (channel === null) throw exists();
        const isNewSecret = channel.kind === "web" && options.secretKey === undefined;
        printChannel(terminal, channel, options, isNewSecret ? made.secretKey : null);
      });
    });
}

/** A channel with a damaged record may be created again: its users, threads and tokens still exist. */
async function mayNotMake(store: Store, slug: string): Promise<boolean> {
  try {
    return (await store.channel(slug)) !== null;
  } catch (error) {
    if (error instanceof UnreadableRecord && !(error instanceof NewerRecord)) return false;
    throw error;
  }
}

function addUpdate(channels: Command, terminal: Terminal): void {
  withOriginChanges(withFieldOptions(channels.command("update")))
    .description("change the fields that are given")
    .argument("<slug>")
    .action(async (slug: string, options: FieldOptions, command: Command) => {
      await withStore(terminal, async (store, config) => {
        const channel = await untilWritten(slug, async () => {
          const stored = await existingChannel(store, slug);
          return writeOptions({ store, terminal, config }, { slug, stored }, options, command);
        });
        printChannel(terminal, channel, options);
      });
    });
}

function addSwitch(
  channels: Command,
  terminal: Terminal,
  { name, enabled, does }: { name: string; enabled: boolean; does: string },
): void {
  const command = channels
    .command(name)
    .description(does)
    .argument("<slug>")
    .option("--json", "print the channel as JSON");
  if (!enabled) command.option("--stop", "stop the channel's runs, and what waits behind them");
  command.action(async (slug: string, options: JsonOption & { stop?: boolean }) => {
    await withStore(terminal, async (store, config) => {
      const channel = await untilWritten(slug, async () => {
        const stored = await existingChannel(store, slug);
        const switched = { ...stored, enabled };
        return (await mayWrite({ store, terminal, config }, switched, stored)) ? switched : null;
      });
      if (options.stop) {
        const threads = await threadsToStop(store, config);
        const stopped = await stopChannel(asCommandLine(store), threads, slug);
        terminal.err(`Stopped in ${stopped} threads\n`);
      }
      printChannel(terminal, channel, options);
    });
  });
}

function addRotateKeys(channels: Command, terminal: Terminal): void {
  channels
    .command("rotate-keys")
    .description(
      "make both keys of a web channel anew and print them; the old ones end at once, or after the overlap",
    )
    .argument("<slug>")
    .option("--overlap <hours>", "so long the old keys stay valid, too", hoursOption)
    .option("--json", "print the channel as JSON")
    .action(async (slug: string, options: JsonOption & { overlap?: number }) => {
      await withStore(terminal, async (store, config) => {
        const { channel, keys } = await untilWritten(slug, async () => {
          const stored = await existingChannel(store, slug);
          if (stored.kind !== "web") {
            throw new CannotDo(`Cannot rotate the keys of channel ${slug}: a transport channel has none`);
          }
          return rotateKeys(asCommandLine(store), stored, options.overlap);
        });
        keptKeys(config.dataDir).channel(slug, keys);
        printChannel(terminal, channel, options, keys.secretKey);
      });
    });
}

/** `24` or `24h`. */
function hoursOption(text: string): number {
  const hours = /^\d+(?:\.\d+)?h?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (hours <= MAX_OVERLAP_HOURS) return hours;
  throw new InvalidArgumentError(`It takes hours, at most ${MAX_OVERLAP_HOURS}.`);
}
