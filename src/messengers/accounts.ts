import type { Adapter, Logger } from "chat";
import type { Clock } from "../clock.ts";
import type { ChannelVariables } from "../config/channel-variables.ts";
import { variableName } from "../domain/channels/channel-variables.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { codeOf, messageOf } from "../errors.ts";
import type { PlainLog } from "../log.ts";
import { createInbox } from "./inbox.ts";
import type { Arrived, Inbox } from "./inbox.ts";
import { createMemoryState } from "./memory-state.ts";
import type { Platform } from "./platform.ts";
import { platformOf } from "./platforms.ts";
import { within } from "./within.ts";

/** A channel's account at its platform, in use. */
export interface Account {
  platform: Platform;
  adapter: Adapter;
  inbox: Inbox;
}

/** Why an account cannot be used, in words for who runs the service. */
export class AccountFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AccountFault";
  }
}

/** The accounts of this process: each is opened at its first use, and anew when its settings change. */
export interface Accounts {
  /** Null: the channel has no messenger. Rejects with AccountFault. */
  open(channel: Pick<Channel, "slug" | "messenger">): Promise<Account | null>;
  close(): Promise<void>;
}

const OPEN_MS = 10_000;
/** An account that could not be opened is tried again by what comes after so long. */
const AGAIN_MS = 3_000;

export function createAccounts({
  variables,
  save,
  clock,
  log,
}: {
  variables: Pick<ChannelVariables, "read">;
  save: (slug: string, arrived: Arrived) => Promise<void>;
  clock: Clock;
  log: PlainLog;
}): Accounts {
  const opened = new Map<string, { settings: string; account: Promise<Account>; failedAt: number | null }>();

  return {
    async open({ slug, messenger }) {
      if (messenger === undefined) return null;
      const settings = readSettings(slug, messenger, variables);
      const written = JSON.stringify([messenger.type, settings]);
      const known = opened.get(slug);
      const isOld = known?.failedAt != null && clock.elapsed() - known.failedAt > AGAIN_MS;
      if (known && known.settings === written && !isOld) return known.account;
      if (known && known.settings !== written) void closed(known.account);
      const account = openAccount(platformOf(messenger.type), settings, {
        logger: loggerOver(log, slug),
        save: (arrived) => save(slug, arrived),
        now: () => clock.now(),
      });
      const one: { settings: string; account: Promise<Account>; failedAt: number | null } = {
        settings: written,
        account,
        failedAt: null,
      };
      opened.set(slug, one);
      account.catch((error: unknown) => {
        one.failedAt = clock.elapsed();
        log.warn({ channel: slug, reason: messageOf(error) }, "cannot use a channel's messenger");
      });
      return account;
    },

    async close() {
      await Promise.all([...opened.values()].map(({ account }) => closed(account)));
      opened.clear();
    },
  };
}

async function closed(account: Promise<Account>): Promise<void> {
  const known = await account.catch(() => null);
  await known?.adapter.disconnect?.().catch(() => {});
}

/** The settings with the values of their variables. Throws AccountFault. */
export function readSettings(
  slug: string,
  { settings }: NonNullable<Channel["messenger"]>,
  variables: Pick<ChannelVariables, "read">,
): Record<string, string> {
  const read = Object.entries(settings).map(([name, text]): [string, string] => {
    const variable = variableName(text);
    if (variable === null) return [name, text];
    const value = variables.read(slug, variable);
    if (value === null)
      throw new AccountFault(
        `messenger.settings.${name} is $${variable}, which is unset, or not for this channel`,
      );
    return [name, value.reveal()];
  });
  return Object.fromEntries(read);
}

async function openAccount(
  platform: Platform,
  settings: Record<string, string>,
  { logger, save, now }: { logger: Logger; save: (arrived: Arrived) => Promise<void>; now: () => number },
): Promise<Account> {
  const adapter = await loadAdapter(platform, settings, logger);
  const state = createMemoryState(now);
  const inbox = createInbox({ state, logger, save, userName: settings["userName"] ?? adapter.userName });
  await within(OPEN_MS, adapter.initialize(inbox.chat)).catch((cause: unknown) => {
    throw new AccountFault(`${platform.type} cannot be used: ${messageOf(cause)}`, { cause });
  });
  return { platform, adapter, inbox };
}

/** Rejects with AccountFault: the package is not there, or refuses the settings. */
export async function loadAdapter(
  platform: Platform,
  settings: Record<string, string>,
  logger: Logger,
): Promise<Adapter> {
  try {
    return await platform.load(settings, logger);
  } catch (cause) {
    if (codeOf(cause) === "ERR_MODULE_NOT_FOUND")
      throw new AccountFault(`${platform.packageName} is missing: npm install ${platform.packageName}`, {
        cause,
      });
    throw new AccountFault(`${platform.type} refuses its settings: ${messageOf(cause)}`, { cause });
  }
}

/** What an adapter says, without the data that it says it of: texts, names and keys of users are among them. */
export function loggerOver(log: PlainLog, channel: string): Logger {
  const logger: Logger = {
    child: () => logger,
    debug() {},
    info() {},
    warn: (message) => log.info({ channel }, `messenger: ${message}`),
    error: (message) => log.warn({ channel }, `messenger: ${message}`),
  };
  return logger;
}
