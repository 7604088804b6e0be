import { DESK, NO_DESK, NOTES } from "../../../domain/threads/desk.ts";
import type { Desk } from "../../../domain/threads/desk.ts";
import type { DeskStore } from "../../../store/desk.ts";
import { UnreadableRecord } from "../../../store/unreadable.ts";
import { slotOf } from "../../engine.ts";
import { deskKind, noteKind, readDesk, readNote } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import { readField } from "./read-field.ts";
import { tellingWrites, unqueuedOf, unqueuedRead } from "./tellings.ts";
import { partName, recordOfPart, recordPart } from "./texts.ts";

const DESK_FIELD = partName(DESK, 0);
const READ = { name: "desk" };
const KEEP = { name: "keepDesk" };

/** `changed`: tells the operators' feeds that a list shows the thread differently. */
export function deskSteps(
  { engine, codec }: StepsContext,
  changed: (slug: string, uid: string, atMs: number) => void,
): DeskStore {
  async function stored(uid: string): Promise<{ text: string | null; desk: Desk }> {
    const text = await readField(engine, tables.parts.key(uid), DESK_FIELD, READ);
    if (text === null) return { text, desk: NO_DESK };
    const desk = await codec.read(uid, (open) => readDesk(recordOfPart(text, DESK, 0, open), uid));
    return { text, desk };
  }

  return {
    desk: async (uid) => (await stored(uid)).desk,

    async keepDesk({ uid, slug, desk, note, tells = [], atMs }) {
      const before = await stored(uid);
      if (before.desk.rev !== desk.rev - 1) return { type: "changed" };
      const header = tables.header.key(uid);
      const told = tells.length > 0 ? await readField(engine, header, HEADER.told, KEEP) : null;
      const key = tables.parts.key(uid);
      const seal = await codec.sealOf({ uid, slug, userId: null });
      const fields = [
        ...(note ? [recordPart(noteKind.stored(note), NOTES, desk.notes, seal)] : []),
        recordPart(deskKind.stored(desk), DESK, 0, seal),
      ];
      const telling = tellingWrites({ uid, slug, atMs, told: Number(told ?? 0) }, tells, seal);
      const ofThread = [fieldIs(header, HEADER.deletedAtMs, null), fieldIs(header, HEADER.slug, slug)];
      const toldAfter = String(Number(told ?? 0) + tells.length);
      const applied = await engine.apply({
        ...KEEP,
        slot: slotOf(header),
        checks: [
          ...ofThread,
          { check: "field", key, field: DESK_FIELD, is: [before.text] },
          ...(tells.length > 0 ? [fieldIs(header, HEADER.told, told)] : []),
        ],
        writes: [
          ...telling.writes,
          ...(tells.length > 0
            ? [{ write: "set" as const, key: header, fields: [[HEADER.told, toldAfter]] as const }]
            : []),
          { write: "set", key, fields },
        ],
        reads: tells.length > 0 ? [unqueuedRead(uid)] : [],
      });
      if (applied.type === "failed")
        return { type: applied.failed < ofThread.length ? "not-found" : "changed" };
      changed(slug, uid, atMs);
      const earlier = unqueuedOf({ uid, slug, told: Number(told ?? 0) }, applied.reads[0] ?? []);
      return { type: "kept", unqueued: [...earlier, ...telling.refs] };
    },

    async notes(uid) {
      const { desk } = await stored(uid);
      if (desk.notes === 0) return [];
      const fields = Array.from({ length: desk.notes }, (_, at) => partName(NOTES, at + 1));
      const [texts] = await engine.read([{ read: "fields", key: tables.parts.key(uid), fields }], {
        name: "notes",
      });
      return codec.read(uid, (open) =>
        texts.map((text, at) => {
          if (text === null) throw new UnreadableRecord("note", uid, "it is not there");
          return readNote(recordOfPart(text, NOTES, at + 1, open), uid);
        }),
      );
    },
  };
}
