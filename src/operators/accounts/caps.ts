import { CAP_NAMES } from "../../agent/budget.ts";
import type { SharedCaps } from "../../agent/budget.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import type { Store } from "../../store.ts";

/** A cap on the tokens of a UTC day. `used`: the tokens counted so far; a turn in progress may still exceed the cap. */
export interface CapUse {
  limit: number;
  used: number;
}

/** The configured daily caps, and their use. Tokens that no cap limits are not counted, and so not shown. */
export interface DailyCaps {
  day: string;
  installation: CapUse | null;
  /** For each client address separately; addresses are stored only as hashes. */
  address: { limit: number } | null;
  channels: ({ channel: string } & CapUse)[];
}

export async function readCaps(
  store: Pick<Store, "countedTokens">,
  { channels, shared, day }: { channels: readonly Channel[]; shared: SharedCaps; day: string },
): Promise<DailyCaps> {
  const capped = channels.flatMap(({ slug, agent }) =>
    agent.maxTokensPerDay === undefined ? [] : [{ channel: slug, limit: agent.maxTokensPerDay }],
  );
  const names = [CAP_NAMES.installation, ...capped.map(({ channel }) => CAP_NAMES.channel(channel))];
  const [ofAll = 0, ...ofChannels] = await store.countedTokens(names, day);
  return {
    day,
    installation: shared.installation === null ? null : { limit: shared.installation, used: ofAll },
    address: shared.address === null ? null : { limit: shared.address },
    channels: capped.map((cap, at) => ({ ...cap, used: ofChannels[at] ?? 0 })),
  };
}
