/**
 * Images that come with a user's message (contract, Providers and models). An image that was sent itself, as a data: URL, is kept
 * beside its thread (ThreadStore.keepImages), not in the message: so what is loaded of a thread stays short, however many
 * images its history has. Of one that lies elsewhere the address is kept, and nothing here fetches it.
 */
export interface SentAttachment {
  url: string;
  name?: string | undefined;
}

/** As it is kept with its message, or waits with it. */
export interface Attachment {
  name?: string;
  /** https; absent where the image is kept. */
  url?: string;
  /** Of an image that is kept: `image/png`, … */
  type?: string;
  /** UTF-16 units of the data: URL that is kept. */
  chars?: number;
}

export type ImageType = (typeof IMAGE_TYPES)[number];

export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const;

export const MAX_ATTACHMENTS = 4;

/** The type that a data: URL says; null for any other address. */
export function declaredType(url: string): ImageType | null {
  return IMAGE_TYPES.find((type) => url.startsWith(`data:${type};base64,`)) ?? null;
}

/** Of images that were found to be some: what is kept with the message, and what beside its thread: the data: URLs, in order. */
export function keptAttachments(sent: readonly SentAttachment[]): {
  attachments: Attachment[];
  images: string[];
} {
  const images: string[] = [];
  const attachments = sent.map(({ url, name }): Attachment => {
    const named = name === undefined ? {} : { name };
    const type = declaredType(url);
    if (type === null) return { ...named, url };
    images.push(url);
    return { ...named, type, chars: url.length };
  });
  return { attachments, images };
}

/** The addresses of a message's attachments, in order; null where an image that was kept is not there. */
export function addressesOf(
  attachments: readonly Attachment[],
  images: readonly string[],
): (string | null)[] {
  let nth = 0;
  return attachments.map(({ url }) => url ?? images[nth++] ?? null);
}

/** Is something of these kept beside the thread? */
export function hasKeptImages(attachments: readonly Attachment[] | undefined): boolean {
  return attachments?.some(({ url }) => url === undefined) ?? false;
}
