import { boundedBody } from "../bounded-body.ts";
import type { ChannelVariables } from "../config/channel-variables.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { codeOf, messageOf } from "../errors.ts";
import type { PlainLog } from "../log.ts";
import { AccountFault, loadAdapter, loggerOver, readSettings } from "./accounts.ts";
import type { Asked } from "./platform.ts";
import { platformOf } from "./platforms.ts";

const ANSWER_MS = 10_000;
const MOST_ANSWER_BYTES = 262_144;

/** What is wrong with a channel's messenger, in sentences; empty: nothing. Nothing is sent to anybody. */
export async function checkMessenger(
  { slug, enabled, messenger }: Channel,
  {
    variables,
    publicUrl,
    log,
  }: { variables: Pick<ChannelVariables, "read">; publicUrl: string | null; log: PlainLog },
): Promise<string[]> {
  if (messenger === undefined) return ["The channel has no messenger"];
  const platform = platformOf(messenger.type);
  try {
    const settings = readSettings(slug, messenger, variables);
    await loadAdapter(platform, settings, loggerOver(log, slug));
    const webhookUrl = publicUrl === null ? null : `${publicUrl}/v1/messengers/${slug}`;
    const problems = await platform.check({ settings, webhookUrl, ask });
    return enabled ? problems : ["The channel is disabled: nobody is answered", ...problems];
  } catch (error) {
    if (error instanceof AccountFault) return [error.message];
    throw error;
  }
}

async function ask(url: string, init: RequestInit = {}): Promise<Asked> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const { status, headers, body } = await fetch(url, { ...init, redirect: "manual", signal });
    const bounded = body && boundedBody(body, { mostBytes: MOST_ANSWER_BYTES });
    const text = await new Response(bounded).text();
    return { status, headers: Object.fromEntries(headers), body: parsed(text) };
  } catch (error) {
    // Without the address, in which Telegram has its token.
    const cause = error instanceof Error ? error.cause : undefined;
    return {
      problem:
        codeOf(cause) ?? codeOf(error) ?? (error instanceof TypeError ? "no connection" : messageOf(error)),
    };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
