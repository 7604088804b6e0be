import { snoozedUntil } from "../../domain/threads/desk.ts";
import type { Message } from "../../domain/threads/message.ts";
import { NewerRecord, UnreadableRecord } from "../../store.ts";
import type { ChannelThread, Store } from "../../store.ts";

/** What a list shows of a thread to operators who may read its texts. */
export interface Headline {
  /** First line of the first message. */
  title?: string;
  /** First line of the last item. */
  preview?: string;
  /** The user's; of an anonymous one what the page claims. */
  displayName?: string;
  /** Where the visitor was when the last message came: pathname and search, as the page claims. */
  page?: string;
  labels: string[];
  /** Unix ms. */
  snoozedUntil?: number;
}

type Reading = Pick<Store, "load" | "history" | "desk" | "findUser">;

/** Of the first line of a text. */
const MOST_CHARS = 120;

/**
 * Read from what is stored anyway, when somebody looks: a message costs nothing for it. What cannot be read is left out;
 * opening the thread says why.
 */
export async function readHeadline(
  store: Reading,
  slug: string,
  { uid, userId, updatedAtMs }: Pick<ChannelThread, "uid" | "userId" | "updatedAtMs">,
  nowMs: number,
): Promise<Headline> {
  const earliest = { limit: 1, before: "2", budgetChars: MOST_CHARS };
  const [record, earlier, desk, user] = await Promise.all([
    readable(store.load(uid, 1, "last-in-parts")),
    readable(store.history(uid, earliest)),
    readable(store.desk(uid)),
    store.findUser(slug, userId),
  ]);
  const speaker = record?.run?.speaker;
  const last = record?.tail.at(-1);
  // The id of a second message is known only where there is one.
  const first = record?.messageCount === 1 ? last : earlier?.[0];
  const displayName = user?.displayName ?? speaker?.displayName;
  const until = desk && snoozedUntil(desk, { nowMs, lastAtMs: updatedAtMs });
  return {
    ...(first ? { title: firstLine(first) } : {}),
    ...(last ? { preview: firstLine(last) } : {}),
    ...(displayName ? { displayName } : {}),
    ...(speaker?.page ? { page: speaker.page } : {}),
    labels: desk?.labels ?? [],
    ...(until ? { snoozedUntil: until } : {}),
  };
}

async function readable<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableRecord && !(error instanceof NewerRecord)) return null;
    throw error;
  }
}

/** Of a message without text, the names of its images and files. */
function firstLine({ content, attachments = [], files = [] }: Message): string {
  const line = lineWith(content.slice(0, 4 * MOST_CHARS), () => true);
  return line === ""
    ? cut([...attachments, ...files].map(({ name }) => `[${name ?? "image"}]`).join(" "))
    : line;
}

/** The first line that is not empty, and fits; "": none. At most MOST_CHARS UTF-16 units. */
export function lineWith(text: string, fits: (line: string) => boolean): string {
  for (const line of text.split(/[\r\n]/)) {
    const trimmed = line.trim();
    if (trimmed !== "" && fits(trimmed)) return cut(trimmed);
  }
  return "";
}

function cut(line: string): string {
  if (line.length <= MOST_CHARS) return line;
  // Not in the middle of a character.
  return `${line.slice(0, MOST_CHARS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
