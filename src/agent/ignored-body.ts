import type { Channel } from "../domain/channels/channel.ts";
import { isOwnField } from "../domain/channels/model-body.ts";

/** One sentence for each channel whose `agent.body`, stored by an earlier version, has fields that are not sent. */
export function ignoredBody(channels: readonly Channel[]): string[] {
  return channels.flatMap(({ slug, agent: { body = {} } }) => {
    const ignored = Object.keys(body).filter(isOwnField);
    if (ignored.length === 0) return [];
    const names = ignored.join(", ");
    return [
      `agent.body of channel ${slug} has ${names}, which is not sent to the model: take it out of agent.body`,
    ];
  });
}
