import { readFileSync } from "node:fs";
import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Config } from "../config.ts";
import type { AgentSettings, Channel } from "../domain/channel.ts";
import {
  agentSchema,
  applyFields,
  channelFieldsSchema,
  complaint,
  originFrom,
  sharedKey,
  slugSchema,
  splitAgent,
} from "../domain/channel-fields.ts";
import { hashKey, newChannelKeys } from "../installation/channel-keys.ts";
import type { ChannelKeys } from "../installation/channel-keys.ts";
import { messageOf } from "../errors.ts";
import { DEMO_SLUG } from "../installation/default-channels.ts";
import { readKeysFile, writeKeysFile } from "../installation/keys-file.ts";
import { Secret } from "../secret.ts";
import type { Store } from "../store.ts";
import { printFields, printJson, printTable } from "./print.ts";
import { CannotDo } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { existingChannel } from "./users.ts";
import { withStore } from "./with-store.ts";

interface FieldOptions {
  kind?: "web" | "transport";
  origin?: string[];
  accessMode?: "open" | "whitelist";
  instructions?: string;
  model?: string;
  agent?: AgentSettings;
  publishableKey?: string;
  secretKey?: string;
  json?: boolean;
}

/** `chat-agent channels`: the doors to the agent, their keys, origins and settings. */
export function addChannels(program: Command, terminal: Terminal): void {
  const channels = program.command("channels").description("list, create and change channels");

  channels
    .command("list")
    .description("all channels")
    .option("--json", "print a JSON array")
    .action(async (options: { json?: boolean }) => {
      await withStore(terminal, async (store) => {
        const found = await store.channels();
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

  channels
    .command("show")
    .description("one channel")
    .argument("<slug>")
    .option("--json", "print JSON")
    .action(async (slug: string, options: { json?: boolean }) => {
      await withStore(terminal, async (store) => show(terminal, await existingChannel(store, slug), options));
    });

  fieldOptions(channels.command("create"))
    .description("make a channel; prints the keys that it makes, this once")
    .argument("<slug>", "1 to 64 of a-z 0-9 - _", parseSlug)
    .action(async (slug: string, options: FieldOptions, command: Command) => {
      if (options.kind === undefined)
        command.error("error: a new channel needs --kind web or --kind transport");
      await withStore(terminal, async (store) => {
        if ((await store.channel(slug)) !== null) {
          throw new CannotDo(`Cannot create channel ${slug}: it exists; see channels update`);
        }
        const made = newChannelKeys();
        const withKeys =
          options.kind === "web"
            ? {
                ...options,
                publishableKey: options.publishableKey ?? made.publishableKey,
                secretKey: options.secretKey ?? made.secretKey.reveal(),
              }
            : options;
        const channel = await put(store, null, slug, withKeys, command);
        const tellSecret = channel.kind === "web" && options.secretKey === undefined;
        show(terminal, channel, options, tellSecret ? made.secretKey : null);
      });
    });

  fieldOptions(channels.command("update"))
    .description("change the fields that are given")
    .argument("<slug>")
    .action(async (slug: string, options: FieldOptions, command: Command) => {
      await withStore(terminal, async (store) => {
        const stored = await existingChannel(store, slug);
        show(terminal, await put(store, stored, slug, options, command), options);
      });
    });

  for (const [name, enabled] of [
    ["enable", true],
    ["disable", false],
  ] as const) {
    channels
      .command(name)
      .description(enabled ? "let users in again" : "refuse every user of a channel")
      .argument("<slug>")
      .option("--json", "print the channel as JSON")
      .action(async (slug: string, options: { json?: boolean }) => {
        await withStore(terminal, async (store) => {
          const channel = { ...(await existingChannel(store, slug)), enabled };
          await store.putChannel(channel);
          show(terminal, channel, options);
        });
      });
  }

  channels
    .command("rotate-keys")
    .description("make both keys of a web channel anew and print them; the old ones end at once")
    .argument("<slug>")
    .option("--json", "print the channel as JSON")
    .action(async (slug: string, options: { json?: boolean }) => {
      await withStore(terminal, async (store, config) => {
        const stored = await existingChannel(store, slug);
        if (stored.kind !== "web") {
          throw new CannotDo(`Cannot rotate the keys of channel ${slug}: a transport channel has none`);
        }
        const keys = newChannelKeys();
        const channel = {
          ...stored,
          publishableKey: keys.publishableKey,
          secretKeyHash: hashKey(keys.secretKey),
        };
        await store.putChannel(channel);
        keepGeneratedKeys(config, slug, keys);
        show(terminal, channel, options, keys.secretKey);
      });
    });
}

function fieldOptions(command: Command): Command {
  return command
    .addOption(new Option("--kind <kind>", "how it is used").choices(["web", "transport"]))
    .option("--origin <origin>", "an allowed origin, scheme://host[:port]; repeatable", collectOrigin)
    .addOption(new Option("--access-mode <mode>", "who may talk").choices(["open", "whitelist"]))
    .option("--instructions <text>", "what the agent is told first")
    .option("--model <name>", "the model, instead of OPENAI_MODEL")
    .option("--agent <file>", "JSON file with all of the agent's settings", readAgent)
    .option("--publishable-key <key>", "pk_…, instead of a new one")
    .option("--secret-key <key>", "sk_…, instead of a new one")
    .option("--json", "print the channel as JSON");
}

/** Checks the options as CHANNELS_FILE is checked, and writes the channel. */
async function put(
  store: Store,
  stored: Channel | null,
  slug: string,
  options: FieldOptions,
  command: Command,
): Promise<Channel> {
  const agent = {
    ...(options.agent ?? stored?.agent),
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
    ...(options.model === undefined ? {} : { model: options.model }),
  };
  const parsed = channelFieldsSchema.safeParse({
    slug,
    agent,
    kind: options.kind,
    accessMode: options.accessMode,
    allowedOrigins: options.origin,
    publishableKey: options.publishableKey,
    secretKey: options.secretKey,
  });
  if (!parsed.success) return command.error(`error: ${complaint(parsed.error)}`);
  const { secretKey, ...fields } = parsed.data;
  if (secretKey?.startsWith("$")) command.error("error: secretKey must start with sk_");

  const channel = attempt(command, () =>
    applyFields(stored, {
      ...fields,
      ...(secretKey === undefined ? {} : { secretKeyHash: hashKey(new Secret(secretKey)) }),
    }),
  );
  const others = (await store.channels()).filter((other) => other.slug !== slug);
  const shared = sharedKey([...others, channel]);
  if (shared !== null) {
    throw new CannotDo(`Cannot write channel ${slug}: channel ${shared[0]} has that publishable key`);
  }
  await store.putChannel(channel);
  return channel;
}

function attempt(command: Command, make: () => Channel): Channel {
  try {
    return make();
  } catch (error) {
    return command.error(`error: ${messageOf(error)}`);
  }
}

/** The keys file knows the demo channel's keys too, so that the next start can tell them. */
function keepGeneratedKeys(config: Config, slug: string, keys: ChannelKeys): void {
  const generated = readKeysFile(config.dataDir);
  if (generated === null || slug !== DEMO_SLUG) return;
  writeKeysFile(config.dataDir, { ...generated, demo: keys });
}

function show(
  terminal: Terminal,
  channel: Channel,
  options: { json?: boolean },
  secretKey: Secret | null = null,
): void {
  const view = channelView(channel, secretKey);
  if (options.json) printJson(terminal, view);
  else printFields(terminal, view);
}

/** A channel by the names of CHANNELS_FILE; a secret key only where it was just made. */
function channelView(channel: Channel, secretKey: Secret | null = null): Record<string, unknown> {
  const { slug, kind, publishableKey, allowedOrigins, enabled, accessMode, agent } = channel;
  return {
    slug,
    kind,
    ...(kind === "web" ? { publishableKey } : {}),
    ...(secretKey === null ? {} : { secretKey: secretKey.reveal() }),
    ...(kind === "web" ? { allowedOrigins } : {}),
    enabled,
    accessMode,
    agent,
  };
}

function parseSlug(text: string): string {
  const parsed = slugSchema.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError("It takes 1 to 64 of a-z 0-9 - _.");
  return parsed.data;
}

function collectOrigin(text: string, before: string[] = []): string[] {
  const origin = originFrom(text);
  if (origin === null)
    throw new InvalidArgumentError('It takes scheme://host[:port] without a path, never "null".');
  return [...before, origin];
}

function readAgent(path: string): AgentSettings {
  let parsed;
  try {
    parsed = agentSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  if (!parsed.success) throw new InvalidArgumentError(complaint(parsed.error));
  const { kept, processes } = splitAgent(parsed.data);
  const [first] = Object.keys(processes);
  if (first !== undefined) {
    throw new InvalidArgumentError(`MCP server ${first} is a command: those stand in CHANNELS_FILE alone.`);
  }
  return kept;
}
