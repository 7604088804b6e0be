import { fieldsOf } from "./fields.ts";

/**
 * Room for the rest of a message's body: text, context and page address at their maximum lengths, mostly of three-byte
 * characters.
 */
const OTHER_BYTES = 16_384;

/** What a channel allows its visitors. */
export interface ChannelFacts {
  /** Characters that the images of a message may have together, as data: URLs; null if the channel accepts none. */
  imageRoom: number | null;
  /** Visitors may ask for a person. */
  handoff: boolean;
}

export async function readChannel(baseUrl: string, publishableKey: string): Promise<ChannelFacts> {
  const url = `${baseUrl}/widget/v1/channel?key=${encodeURIComponent(publishableKey)}`;
  const answer = await fetch(url, { credentials: "omit" });
  const { images, maxBodyBytes, handoff } = fieldsOf(await answer.json());
  const bytes = Number(maxBodyBytes);
  const imageRoom = images === true ? Math.max(bytes - OTHER_BYTES, bytes / 2) : null;
  return { imageRoom, handoff: handoff === true };
}
