import { messageOf } from "../errors.ts";
import type { Model } from "../model.ts";
import type { StoredPassage } from "../store.ts";
import type { Passage } from "./passages.ts";
import { vectorOf, vectorText } from "./search/vectors.ts";
import type { Vector } from "./search/vectors.ts";
import { CannotEmbed } from "./sync/sync-source.ts";

/** Texts in one request: every known server takes as many. */
const AT_ONCE = 64;
/** A visitor waits for it; without it the question is found by its words. */
const QUESTION_MS = 3_000;

type Embedding = NonNullable<Model["embed"]>;

/** Passages with what they mean, a heading included. Rejects with CannotEmbed. */
export async function withMeaning(
  embed: Embedding,
  model: string,
  { passages, signal }: { passages: readonly Passage[]; signal: AbortSignal },
): Promise<StoredPassage[]> {
  const kept: StoredPassage[] = [];
  for (let at = 0; at < passages.length; at += AT_ONCE) {
    const some = passages.slice(at, at + AT_ONCE);
    const texts = some.map(({ title, heading, text }) => [title, heading, text].filter(Boolean).join("\n"));
    const vectors = await embed(model, texts, signal).catch((cause: unknown) => {
      throw new CannotEmbed(`its meaning cannot be known: ${messageOf(cause)}`, { cause });
    });
    some.forEach(({ heading, text }, nth) => {
      kept.push({ heading, text, vector: vectorText(vectorOf(vectors[nth] ?? [])) });
    });
  }
  return kept;
}

/** What a question means. Rejects with ModelFault, or if it takes too long. */
export async function meaningOf(embed: Embedding, model: string, question: string): Promise<Vector> {
  const [numbers = []] = await embed(model, [question], AbortSignal.timeout(QUESTION_MS));
  return vectorOf(numbers);
}
