import type { Store } from "../../src/store.ts";
import type { PlayedTurn } from "./scripted-agent.ts";

/** Longer than a part; no two are alike. */
export const chapter = (nth: number) => `${nth}👋 `.repeat(20_000);
export const LIMITS = { limits: { runMaxReplyChars: 10_000_000 } };

export async function writeChapters(turn: PlayedTurn, from: number, to: number): Promise<string> {
  let text = "";
  for (let nth = from; nth < to; nth++) {
    text += chapter(nth);
    await turn.writeAndWait(chapter(nth));
  }
  return text;
}

export async function lastReply(store: Store): Promise<string | undefined> {
  return (await store.history("t1", { limit: 1, before: null }))[0]?.content;
}
