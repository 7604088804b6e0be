import type { Channel } from "../../domain/channel.ts";
import type { Secret } from "../../secret.ts";
import { printFields, printJson } from "../print.ts";
import type { Terminal } from "../terminal.ts";

/** Prints one channel; its secret key only if it was just made. */
export function printChannel(
  terminal: Terminal,
  channel: Channel,
  options: { json?: boolean },
  secretKey: Secret | null = null,
): void {
  const view = channelView(channel, secretKey);
  if (options.json) printJson(terminal, view);
  else printFields(terminal, view);
}

/** A channel by the names of CHANNELS_FILE. */
export function channelView(channel: Channel, secretKey: Secret | null = null): Record<string, unknown> {
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
