import type { Channel } from "../../domain/channel.ts";
import { channelView } from "../../operators/channel-secrets.ts";
import type { Secret } from "../../secret.ts";
import { printFields, printJson } from "../print.ts";
import type { Terminal } from "../terminal.ts";

/** Prints one channel; the secret key only if it is new. */
export function printChannel(
  terminal: Terminal,
  channel: Channel,
  options: { json?: boolean },
  secretKey: Secret | null = null,
): void {
  const view = channelView(channel, { secretKey });
  if (options.json) printJson(terminal, view);
  else printFields(terminal, view);
}
