import type { Channel } from "../../src/domain/channels/channel.ts";
import type { MessengerField } from "../../src/domain/channels/messenger.ts";
import { sampleChannel } from "../stores/samples.ts";

/** A transport channel with this messenger. */
export function transportChannel(
  slug: string,
  messenger: MessengerField,
  more: Partial<Channel> = {},
): Channel {
  return {
    ...sampleChannel({ slug }),
    kind: "transport",
    publishableKey: null,
    secretKeyHash: null,
    allowedOrigins: [],
    messenger,
    ...more,
  };
}
