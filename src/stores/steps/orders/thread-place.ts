import type { ThreadPlace } from "../../../store/users.ts";

/** A thread's place in its channel's list, as a text. */
export function threadPlaceText({ atMs, uid }: ThreadPlace): string {
  return `${atMs}-${uid}`;
}

/** Null: not a place. */
export function readThreadPlace(text: string): ThreadPlace | null {
  const [, atMs, uid] = /^(\d{1,15})-(.+)$/s.exec(text) ?? [];
  return uid === undefined ? null : { atMs: Number(atMs), uid };
}
