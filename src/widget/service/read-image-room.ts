import { fieldsOf } from "./fields.ts";
import type { WidgetApi } from "./widget-api.ts";

/**
 * What else is in the body of a message: a text, a context and an address, each as long as it may be, mostly of characters
 * of three bytes.
 */
const OTHER_BYTES = 16_384;

/** How many characters the images of a message may have together, as data: URLs; null where the channel takes none. */
export async function readImageRoom(api: WidgetApi, publishableKey: string): Promise<number | null> {
  const answer = await api({ path: "/channel", method: "GET", publishableKey });
  const { images, maxBodyBytes } = fieldsOf(await answer.json());
  if (images !== true) return null;
  const bytes = Number(maxBodyBytes);
  return Math.max(bytes - OTHER_BYTES, bytes / 2);
}
