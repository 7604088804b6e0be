import { LockedRecord, NewerRecord, UnreadableRecord } from "../../store.ts";
import type { Salvage, SealedPart, UnreadablePart } from "../../store.ts";
import { keyIdOf } from "./cipher.ts";
import { sealedOf } from "./snapshot.ts";
import type { opening } from "./thread-contents.ts";

/**
 * A salvage in which parts with damaged content count as unreadable. A part is damaged if it does not open although
 * others open with the same key; if none does, the key is wrong. Throws LockedRecord if a key is missing or wrong.
 */
export async function openedSalvage(
  { record, parts, sealed }: Salvage,
  contents: ReturnType<typeof opening>,
): Promise<Salvage> {
  const opened = new Set<string | null>();
  const failed: { part: UnreadablePart; keyId: string | null }[] = [];

  async function tried(part: Omit<UnreadablePart, "error">, text: string, open: () => Promise<unknown>) {
    const keyId = keyIdOf(text);
    try {
      await open();
      opened.add(keyId);
    } catch (error) {
      if (!(error instanceof UnreadableRecord) || error instanceof NewerRecord) throw error;
      failed.push({ part: { ...part, error }, keyId });
    }
  }

  for (const each of sealed) {
    const { part, place, stored } = each;
    await tried({ part, place, stored }, textOf(each), () => contentOf(each, contents));
  }
  const { snapshot } = record;
  const sealedSnapshot = snapshot === null ? null : sealedOf(snapshot);
  if (snapshot !== null && sealedSnapshot !== null) {
    const part = { part: "snapshot" as const, place: "", stored: snapshot };
    await tried(part, sealedSnapshot, () => contents.snapshot(snapshot));
  }

  const locked = failed.find(({ keyId }) => !opened.has(keyId));
  if (locked) throw new LockedRecord(locked.part.part, record.uid, "nothing of the thread opens by its key");
  const unreadable = failed.map(({ part }) => part);
  const has = (part: UnreadablePart["part"], place = "") =>
    unreadable.some((one) => one.part === part && one.place === place);
  return {
    sealed,
    parts: [...parts, ...unreadable],
    record: {
      ...record,
      run: has("run") ? null : record.run,
      snapshot: has("snapshot") ? null : record.snapshot,
      tail: record.tail.filter(({ id }) => !has("message", id)),
    },
  };
}

/** The text that names the part's key. */
function textOf({ record }: SealedPart): string {
  if (record.sealed !== undefined) return record.sealed;
  return "feedback" in record ? (record.feedback?.sealed ?? "") : "";
}

function contentOf(sealed: SealedPart, contents: ReturnType<typeof opening>): Promise<unknown> {
  switch (sealed.part) {
    case "message":
      return contents.message(sealed.record);
    case "waiting":
      return contents.userMessage(sealed.record);
    case "run":
      return contents.run(sealed.record);
  }
}
