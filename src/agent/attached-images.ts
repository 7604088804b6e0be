import { cutText } from "../../machines/line.ts";
import type { Turn } from "../agent.ts";
import { addressesOf, declaredType } from "../domain/threads/attachments.ts";
import { isClosedUrl } from "../domain/public-address.ts";
import type { Attachment } from "../domain/threads/attachments.ts";
import type { MessageFile } from "../domain/threads/files.ts";
import { runsWithImages } from "../domain/threads/told-images.ts";
import type { AttachedImage, UserMessage } from "../model.ts";
import type { ShownFiles } from "./attached-files.ts";

/** The addresses of the images that the model sees with a user's message; null: it sees none. */
export type ShownImages = (message: Said) => readonly (string | null)[] | null;

interface Said {
  runId: string;
  attachments?: readonly Attachment[];
}

export function shownImages(answered: Said, before: readonly Said[], images: Turn["images"]): ShownImages {
  const told = runsWithImages(answered, before);
  return ({ runId, attachments = [] }) =>
    told.has(runId) ? addressesOf(attachments, images?.get(runId) ?? []).map(publicOrNull) : null;
}

/** Messages of earlier versions may have an address that no message may have now. */
function publicOrNull(url: string | null): string | null {
  return url === null || declaredType(url) !== null || !isClosedUrl(url) ? url : null;
}

export function userMessage(
  said: Said & { content: string; files?: readonly MessageFile[] },
  shown: ShownImages,
  ofFiles: ShownFiles,
): UserMessage {
  const { attachments = [] } = said;
  const { text, images } = ofFiles(said.files);
  const content = said.content === "" ? text.trimStart() : said.content + text;
  if (attachments.length === 0 && images.length === 0) return { role: "user", content };
  const addresses = shown(said);
  return {
    role: "user",
    content,
    images: [...attachments.map((each, nth) => imageOf(each, addresses?.[nth] ?? null)), ...images],
  };
}

const LABEL_CHARS = 120;

/** The name is the visitor's own text, so it goes into a message of the visitor, on one line. */
function imageOf({ name, type, url: address }: Attachment, url: string | null): AttachedImage {
  const known = [name ?? address, type].filter((word) => word !== undefined).join(", ");
  const label = cutText(known.replaceAll(/[\p{Cc}\u2028\u2029[\]]+/gu, " "), LABEL_CHARS);
  return { label: label === "" ? "image" : label, url };
}
