import { isSetting, readVariable } from "../config.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { variablesOf } from "../domain/channels/channel-variables.ts";
import type { NamedVariable } from "../domain/channels/channel-variables.ts";
import type { Secret } from "../secret.ts";

/**
 * Which variables of this instance's environment a channel's settings may name. Whoever may change a channel chooses where
 * its headers go, so a name is worth its value: only variables made for channels count, `CHANNEL_…`, and those that this
 * instance's own CHANNELS_FILE names for the channel. The service's settings are nobody's.
 */
export interface ChannelVariables {
  /** Null: it is unset, or the channel may not name it. */
  read: (slug: string, name: string) => Secret | null;
  /** Why the channel may not name it, in words that end a sentence; null: it may. */
  fault: (slug: string, name: string) => string | null;
  /** One sentence for each field of these channels that names a variable in vain. */
  warnings: (channels: readonly Channel[]) => string[];
}

/** Variables that are made for channels begin so. */
const PREFIX = "CHANNEL_";
/** So many refused names are remembered, so that each is told once. */
const MOST_TOLD = 1_000;

const REMEDY = `name a variable that begins with ${PREFIX}`;

export function createChannelVariables({
  named = new Map(),
  env,
  onRefused = () => {},
}: {
  /** By slug: the variables that CHANNELS_FILE names for the channel. */
  named?: Pick<ReadonlyMap<string, ReadonlySet<string>>, "get">;
  env?: NodeJS.ProcessEnv | undefined;
  /** A channel wanted a variable that it may not name: called once for each. */
  onRefused?: (refused: { slug: string; name: string; fault: string }) => void;
} = {}): ChannelVariables {
  const told = new Set<string>();

  function fault(slug: string, name: string): string | null {
    if (isSetting(name)) return `a setting of the service, which no channel may name: ${REMEDY}`;
    if (name.startsWith(PREFIX) || named.get(slug)?.has(name)) return null;
    return `a variable that this channel may not name: ${REMEDY}, or name this one for the channel in CHANNELS_FILE`;
  }

  return {
    fault,
    read(slug, name) {
      const refused = fault(slug, name);
      if (refused === null) return readVariable(name, env);
      const place = `${slug} ${name}`;
      if (!told.has(place)) {
        if (told.size >= MOST_TOLD) told.clear();
        told.add(place);
        onRefused({ slug, name, fault: refused });
      }
      return null;
    },
    warnings: (channels) =>
      channels.flatMap((channel) =>
        variablesOf(channel).flatMap(({ field, name }) => {
          const refused = fault(channel.slug, name);
          return refused === null ? [] : [`${field} of channel ${channel.slug} names $${name}, ${refused}`];
        }),
      ),
  };
}

/** The first of these that the channel may not name, with the reason; null: it may name all. */
export function firstRefused(
  variables: Pick<ChannelVariables, "fault">,
  slug: string,
  named: readonly NamedVariable[],
): (NamedVariable & { fault: string }) | null {
  for (const one of named) {
    const fault = variables.fault(slug, one.name);
    if (fault !== null) return { ...one, fault };
  }
  return null;
}
