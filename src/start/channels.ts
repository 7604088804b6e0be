import { readVariable } from "../config.ts";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { mustTell, readChannelsFile, upsertChannels } from "../installation/channels-file.ts";
import type { OnAway, WrittenChannels } from "../installation/channels-file.ts";
import { CLI_SLUG, DEMO_SLUG, createCliChannel } from "../installation/default-channels.ts";
import type { Log } from "../log.ts";
import { StoreUnavailable } from "../store.ts";
import type { Store } from "../store.ts";

/** Reads CHANNELS_FILE and checks it before anything is opened; null without one. */
export async function readWrittenChannels(config: Config): Promise<WrittenChannels | null> {
  if (config.channelsFile === null) return null;
  const written = await readChannelsFile(config.channelsFile, readVariable);
  mustTell(written, { ...config, variable: readVariable });
  return written;
}

/**
 * Refuses that the demo model answers a site's visitors because a key was forgotten: OPENAI_API_KEY is there, and empty.
 * Throws ConfigError.
 */
export function mustMeanTheDemo(
  { isModelKeyEmpty, isDemoModel }: Pick<Config, "isModelKeyEmpty" | "isDemoModel">,
  written: WrittenChannels | null,
  hasProviders: boolean,
): void {
  if (hasProviders || isDemoModel || !isModelKeyEmpty) return;
  const site = written?.channels.find(({ kind }) => kind === "web");
  if (site === undefined) return;
  throw new ConfigError(
    `Cannot start: OPENAI_API_KEY is empty, and CHANNELS_FILE has the site ${site.slug}, whose visitors the offline demo model would answer. Set the key, or OPENAI_BASE_URL, or MODEL=demo if that is meant`,
  );
}

/**
 * Writes the channels of CHANNELS_FILE; without a file, creates `cli`. With `onAway` it leaves out those whose part of the store is
 * away.
 */
export async function writeChannels(
  store: Store,
  log: Log,
  written: WrittenChannels | null,
  onAway?: OnAway,
): Promise<void> {
  if (written === null)
    return createCliChannel(store).catch((error: unknown) => {
      if (!onAway || !(error instanceof StoreUnavailable)) throw error;
      onAway(CLI_SLUG);
    });
  const overridden = await upsertChannels(store, written.channels, onAway ? { onAway } : {});
  for (const line of overridden) log.warn(line);
}

/** Only the file's channels that the store has lost: the others stay as they are. */
export function lostOf(written: WrittenChannels, lost: ReadonlySet<string>): WrittenChannels {
  return { ...written, channels: written.channels.filter(({ slug }) => lost.has(slug)) };
}

const ignore = () => {};

/** The channels that this start creates by default. */
export function defaultSlugs({ channelsFile, demo }: Config): string[] {
  return [...(channelsFile === null ? [CLI_SLUG] : []), ...(demo ? [DEMO_SLUG] : [])];
}

/** The channel for the greeting's line to paste: `cli`, or the first that is enabled. */
export async function firstChannel(store: Store): Promise<string | null> {
  const enabled = (await store.channels(ignore, ignore))
    .filter((channel) => channel.enabled)
    .map(({ slug }) => slug);
  return enabled.includes(CLI_SLUG) ? CLI_SLUG : (enabled[0] ?? null);
}

/** An earlier start may have created the demo's channel in this store, meant for use on one machine. */
export async function warnOfOldDemo(store: Store, log: Log): Promise<void> {
  const isThere = (await store.channels(ignore, ignore)).some(
    ({ slug, enabled }) => slug === DEMO_SLUG && enabled,
  );
  if (isThere)
    log.warn(
      "The channel demo of an earlier start is still enabled: chat-agent channels disable demo ends it",
    );
}
