import { fieldsOf } from "./fields.ts";

/**
 * What else is in the body of a message: a text, a context and an address, each as long as it may be, mostly of characters
 * of three bytes.
 */
const OTHER_BYTES = 16_384;

/** How many characters the images of a message may have together, as data: URLs; null where the channel takes none. */
export async function readImageRoom(baseUrl: string, publishableKey: string): Promise<number | null> {
  const url = `${baseUrl}/widget/v1/channel?key=${encodeURIComponent(publishableKey)}`;
  const answer = await fetch(url, { credentials: "omit" });
  const { images, maxBodyBytes } = fieldsOf(await answer.json());
  if (images !== true) return null;
  const bytes = Number(maxBodyBytes);
  return Math.max(bytes - OTHER_BYTES, bytes / 2);
}
