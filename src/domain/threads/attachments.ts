/**
 * Images of a user's message (contract, Providers and models). An image that was sent as a data: URL is stored beside its
 * thread (ThreadStore.keepImages) and not in the message, so that loading a thread stays cheap however many images its
 * history has. For an image elsewhere only the address is stored, and nothing here fetches it.
 */
export interface SentAttachment {
  url: string;
  name?: string | undefined;
}

/** An attachment as it is stored with its message, sent or queued. */
export interface Attachment {
  name?: string;
  /** https; absent if the image itself is stored. */
  url?: string;
  /** The type of a stored image: `image/png`, … */
  type?: string;
  /** UTF-16 units of the stored data: URL. */
  chars?: number;
}

export type ImageType = (typeof IMAGE_TYPES)[number];

export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"] as const;

export const MAX_ATTACHMENTS = 4;

/** The type in a data: URL; null for any other address. */
export function declaredType(url: string): ImageType | null {
  return IMAGE_TYPES.find((type) => url.startsWith(`data:${type};base64,`)) ?? null;
}

/** Splits checked images into what is stored with the message, and the data: URLs, in order, that are stored beside its thread. */
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

/** The addresses of a message's attachments, in order; null for a stored image that is lost. */
export function addressesOf(
  attachments: readonly Attachment[],
  images: readonly string[],
): (string | null)[] {
  let nth = 0;
  return attachments.map(({ url }) => url ?? images[nth++] ?? null);
}

/** Is one of these stored beside the thread? */
export function hasKeptImages(attachments: readonly Attachment[] | undefined): boolean {
  return attachments?.some(({ url }) => url === undefined) ?? false;
}
