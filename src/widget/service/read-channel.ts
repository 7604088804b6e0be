import { fieldsOf } from "./fields.ts";

/**
 * What else is in the body of a message: a text, a context and an address, each as long as it may be, mostly of characters
 * of three bytes.
 */
const OTHER_BYTES = 16_384;

/** What a channel allows its visitors. */
export interface ChannelFacts {
  /** Characters that the images of a message may have together, as data: URLs; null where it takes none. */
  imageRoom: number | null;
  /** They may ask for a person. */
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
