import type { OutboxStore, SealedEvent, StoredEvent, ToldRef } from "../../../store.ts";
import { openedBody, openedEvent } from "../../content-keys/sealed-records.ts";
import { slotOf } from "../../engine.ts";
import type { Engine } from "../../engine.ts";
import { HEADER, tables } from "../../tables.ts";
import { sealedText } from "../channel-outbox.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import { untilApplied } from "../until-applied.ts";

type Opened = StoredEvent | null;
type OutboxTexts = Pick<OutboxStore, "told" | "event" | "seal" | "reseal" | "unsettled">;

/** The texts of events: beside their threads, or beside the channel. */
export function outboxTexts({ engine, codec }: StepsContext): OutboxTexts {
  async function textOf(ref: ToldRef): Promise<string | null> {
    const [[text = null]] = await engine.read([{ read: "fields", key: keyOf(ref), fields: [fieldOf(ref)] }]);
    return text;
  }

  /** Events of users have no texts: they are stored as they are. */
  function opened({ uid, ...ref }: ToldRef, text: string | null): Opened | Promise<Opened> {
    const stored = storedFrom(text);
    if (stored === null || uid === null) return stored;
    return codec.read(uid, (open) =>
      stored.type === "told"
        ? { ...stored, text: openedEvent(stored.text, open) }
        : { ...stored, body: openedBody(stored.body, fieldOf(ref), open) },
    );
  }

  async function kept(ref: ToldRef, sealed: SealedEvent): Promise<SealedEvent> {
    const { uid, slug } = ref;
    const seal = uid === null ? null : await codec.sealOf({ uid, slug, userId: null });
    return seal ? { ...sealed, body: seal(sealed.body, "body", fieldOf(ref)) } : sealed;
  }

  return {
    async told(uid) {
      const [[told]] = await engine.read([
        { read: "fields", key: tables.header.key(uid), fields: [HEADER.told] },
      ]);
      return Number(told ?? 0);
    },

    async event(ref) {
      const { uid, nth } = ref;
      if (uid === null) return opened(ref, await textOf(ref));
      const [[told], [text = null]] = await engine.read([
        { read: "fields", key: tables.header.key(uid), fields: [HEADER.told] },
        { read: "fields", key: keyOf(ref), fields: [fieldOf(ref)] },
      ]);
      // An unfinished commit has stored a later event, which did not happen.
      return Number(nth) > Number(told ?? 0) ? null : opened(ref, text);
    },

    async seal(ref, sealed) {
      const [key, field] = [keyOf(ref), fieldOf(ref)];
      const written = sealedText(await kept(ref, sealed));
      let text = await textOf(ref);
      return untilApplied("seal an event", async () => {
        const stored = await opened(ref, text);
        if (stored?.type !== "told") return stored;
        const applied = await engine.apply({
          name: "seal",
          slot: slotOf(key),
          checks: [fieldIs(key, field, text)],
          writes: [{ write: "set", key, fields: [[field, written]] }],
          reads: [{ read: "fields", key, fields: [field] }],
        });
        if (applied.type !== "failed") return sealed;
        [[text = null]] = applied.reads;
        return undefined;
      });
    },

    async reseal(ref, before, body) {
      const [key, field] = [keyOf(ref), fieldOf(ref)];
      const written = sealedText(await kept(ref, { ...before, body }));
      const text = await textOf(ref);
      const stored = await opened(ref, text);
      if (stored?.type !== "sealed") return false;
      // An earlier try of the same call.
      if (stored.body === body) return true;
      if (stored.body !== before.body) return false;
      const { type } = await engine.apply({
        name: "seal",
        slot: slotOf(key),
        checks: [fieldIs(key, field, text)],
        writes: [{ write: "set", key, fields: [[field, written]] }],
      });
      return type !== "failed";
    },

    async unsettled(uid, endpoint) {
      const [[told], pairs] = await engine.read([
        { read: "fields", key: tables.header.key(uid), fields: [HEADER.told] },
        { read: "hash", key: tables.outbox.key(uid) },
      ]);
      return pairs
        .map(([field]) => field.split(" "))
        .filter(([nth, of]) => of === endpoint && Number(nth) <= Number(told ?? 0))
        .map(([nth = ""]) => nth)
        .sort((a, b) => Number(a) - Number(b));
    },
  };
}

/** Removes the text of an event: a queued event without a text is gone, and is dropped when it is reached. */
export async function dropText(engine: Engine, ref: ToldRef): Promise<void> {
  const key = keyOf(ref);
  const writes = [{ write: "remove" as const, key, fields: [fieldOf(ref)] }];
  await engine.apply({ name: "settled", slot: slotOf(key), checks: [], writes });
}

function keyOf({ slug, uid }: ToldRef): string {
  return uid === null ? tables.channelOutbox.key(slug) : tables.outbox.key(uid);
}

function fieldOf({ nth, endpoint }: Pick<ToldRef, "nth" | "endpoint">): string {
  return `${nth} ${endpoint}`;
}

function storedFrom(text: string | null): StoredEvent | null {
  if (text === null) return null;
  if (!text.startsWith("=")) return { type: "told", text };
  const end = text.indexOf("\n");
  return { type: "sealed", id: text.slice(1, end), body: text.slice(end + 1) };
}
