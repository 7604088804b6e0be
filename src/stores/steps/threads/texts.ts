import { imagesName, wholeMessage, wholeRun } from "../../../domain/threads/kept-text.ts";
import type { Message, RunRecord } from "../../../domain/threads/message.ts";
import type { ThreadStore } from "../../../store/threads.ts";
import { openedImages, openedPart, sealedPart } from "../../content-keys/sealed-records.ts";
import type { Open, Seal } from "../../content-keys/sealed-records.ts";
import { slotOf } from "../../engine.ts";
import type { Pair } from "../../engine.ts";
import { jsonValue } from "../../records/json-value.ts";
import { imagesFrom } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import type { KnownFacts } from "./facts.ts";
import { readField } from "./read-field.ts";

type Reads = Pick<StepsContext, "engine" | "codec">;

/** Long texts in parts, and images, beside their thread. */
export function textSteps(
  context: StepsContext,
  known: KnownFacts,
): Pick<ThreadStore, "keepPart" | "keptText" | "keepImages" | "keptImages" | "dropImages"> {
  const { engine, codec } = context;

  /** Null: it has no record. */
  async function slugOf(uid: string, name: string): Promise<string | null> {
    return known.get(uid)?.slug ?? (await readField(engine, tables.header.key(uid), HEADER.slug, { name }));
  }

  return {
    async keepPart({ uid, fence, runId, nth, text }) {
      const key = tables.header.key(uid);
      const slug = codec.seals ? await slugOf(uid, "keepPart") : null;
      // A thread without a commit has no holder.
      if (codec.seals && slug === null) return false;
      const seal = await codec.sealOf({ uid, slug, userId: null });
      const part = seal ? sealedPart(text, partId(runId, nth), seal) : text;
      const applied = await engine.apply({
        name: "keepPart",
        slot: slotOf(key),
        checks: [{ check: "field", key, field: HEADER.fence, is: [fence] }],
        writes: [{ write: "set", key: tables.parts.key(uid), fields: [[partName(runId, nth), part]] }],
      });
      return applied.type !== "failed";
    },

    keptText: (uid, runId, parts, from = 0) => keptText(context, uid, { runId, parts, from }),

    async keepImages({ uid, runId, images, slug: given }) {
      const key = tables.header.key(uid);
      const slug = given ?? (codec.seals ? await slugOf(uid, "keepImages") : null);
      const seal = await codec.sealOf({ uid, slug, userId: null });
      const kept = seal ? [seal(JSON.stringify(images), "images", runId)] : images;
      const fields = [[imagesField(runId), JSON.stringify(kept)]] as const;
      const applied = await engine.apply({
        name: "keepImages",
        slot: slotOf(key),
        checks: [{ check: "field", key, field: HEADER.deletedAtMs, is: [null] }],
        writes: [{ write: "set", key: tables.parts.key(uid), fields }],
      });
      return applied.type !== "failed";
    },

    async keptImages(uid, runId) {
      const key = tables.parts.key(uid);
      const json = await readField(engine, key, imagesField(runId), { name: "keptImages" });
      return codec.read(uid, (open) => openedImages(imagesFrom(json), runId, open));
    },

    async dropImages(uid, runId) {
      const key = tables.parts.key(uid);
      const writes = [{ write: "remove", key, fields: [imagesField(runId)] }] as const;
      await engine.apply({ name: "dropImages", slot: slotOf(key), checks: [], writes });
    },
  };
}

/** The messages with all their text. */
export async function wholeMessages(context: Reads, uid: string, messages: Message[]): Promise<Message[]> {
  if (!messages.some(({ kept }) => kept)) return messages;
  return Promise.all(
    messages.map(async (message) => {
      const { runId, kept } = message;
      return kept
        ? wholeMessage(message, await keptText(context, uid, { runId, parts: kept.parts }))
        : message;
    }),
  );
}

export async function wholeRunOf(
  context: Reads,
  uid: string,
  run: RunRecord | null,
): Promise<RunRecord | null> {
  if (!run?.kept) return run;
  return wholeRun(run, await keptText(context, uid, { runId: run.runId, parts: run.kept.parts }));
}

async function keptText(
  { engine, codec }: Reads,
  uid: string,
  { runId, parts, from = 0 }: { runId: string; parts: number; from?: number },
): Promise<string> {
  if (parts <= from) return "";
  const fields = Array.from({ length: parts - from }, (_, at) => partName(runId, from + at));
  const reads = [{ read: "fields", key: tables.parts.key(uid), fields }] as const;
  const [texts] = await engine.read(reads, { name: "keptText" });
  return codec.read(uid, (open) =>
    texts.map((text, at) => openedPart(text ?? "", partId(runId, from + at), open)).join(""),
  );
}

export function partName(runId: string, nth: number): string {
  return `${runId}:${nth}`;
}

/** What a sealed part is bound to. */
export const partId = (runId: string, nth: number) => `${runId} ${nth}`;

/** A record that is stored as a part: its field, sealed if there is a seal. */
export function recordPart(record: unknown, of: string, nth: number, seal: Seal | null): Pair {
  const json = JSON.stringify(record);
  return [partName(of, nth), seal ? sealedPart(json, partId(of, nth), seal) : json];
}

/** Back from its field's text. */
export function recordOfPart(text: string, of: string, nth: number, open: Open): unknown {
  return jsonValue(openedPart(text, partId(of, nth), open));
}

const imagesField = (runId: string) => partName(imagesName(runId), 0);
