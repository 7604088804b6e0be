import { hash } from "node:crypto";
import type { Threads } from "../threads/threads.ts";
import { Refusal } from "../domain/refusal.ts";
import type { ThreadPage } from "../protocol/threads.ts";
import type { ListedThread, ThreadPlace } from "../store.ts";
import { limitField } from "./endpoint.ts";

const PAGE_THREADS = 20;

export const EXAMPLE_THREADS: ThreadPage = {
  items: [
    {
      threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
      createdAt: 1_800_000_000_000,
      updatedAt: 1_800_000_002_000,
      state: "idle",
    },
  ],
  next: null,
};

export const threadsFields = {
  limit: limitField(PAGE_THREADS, "How many threads at most"),
  cursor: {
    description: "The `next` of the page before; an unknown one is 422",
    example: cursorOf({ atMs: 1_800_000_002_000, uid: "bkQmzpTqyiWfXH2uJ3dVxw" }),
  },
};

/** A page of a user's threads. Refusal("invalid") for a cursor that did not come from such a page. */
export async function threadPageOf(
  threads: Pick<Threads, "list">,
  owner: { slug: string; userId: string },
  { limit, cursor }: { limit: number; cursor: string | null },
): Promise<ThreadPage> {
  const after = cursor === null ? null : placeOf(cursor);
  const { items, next } = await threads.list({ ...owner, limit, after });
  return { items: items.map(itemOf), next: next && cursorOf(next) };
}

function itemOf({ threadId, createdAtMs, updatedAtMs, state }: ListedThread) {
  return { threadId, createdAt: createdAtMs, updatedAt: updatedAtMs, state };
}

/** A place with a checksum, by which an invented cursor is recognized. */
export function cursorOf({ atMs, uid }: ThreadPlace): string {
  const place = `${atMs} ${uid}`;
  return Buffer.from(`${sumOf(place)} ${place}`).toString("base64url");
}

export function placeOf(cursor: string): ThreadPlace {
  const text = Buffer.from(cursor, "base64url").toString();
  const [sum, atMs, uid, ...rest] = text.split(" ");
  const isOurs = uid !== undefined && rest.length === 0 && sum === sumOf(`${atMs} ${uid}`);
  if (!isOurs) throw new Refusal("invalid", "The cursor is unknown");
  return { atMs: Number(atMs), uid };
}

function sumOf(place: string): string {
  return hash("sha256", place, "base64url").slice(0, 8);
}
