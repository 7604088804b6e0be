import { isClosedUrl } from "../../domain/public-address.ts";
import { isImageData } from "../../domain/threads/image-data.ts";

const MAX_ADDRESS_CHARS = 2_048;

/**
 * May a message have this image: data of an allowed type that is what it claims to be, or a public https address? The model's
 * server fetches it: a visitor's address must not lead into its network. A name is looked up there and not here.
 */
export function isImageUrl(url: string): boolean {
  if (/^data:/i.test(url)) return isImageData(url);
  if (url.length > MAX_ADDRESS_CHARS || !/^https:\/\/[^/][\x21-\x7e]*$/i.test(url) || !URL.canParse(url))
    return false;
  const { username, password, hostname } = new URL(url);
  return username === "" && password === "" && hostname !== "" && !isClosedUrl(url);
}
