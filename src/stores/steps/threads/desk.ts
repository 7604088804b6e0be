import { DESK, NO_DESK, NOTES } from "../../../domain/threads/desk.ts";
import type { Desk } from "../../../domain/threads/desk.ts";
import type { DeskStore } from "../../../store/desk.ts";
import { UnreadableRecord } from "../../../store/unreadable.ts";
import { openedPart, sealedPart } from "../../content-keys/sealed-records.ts";
import type { Open } from "../../content-keys/sealed-records.ts";
import { slotOf } from "../../engine.ts";
import { jsonValue } from "../../records/json-value.ts";
import { deskKind, noteKind, readDesk, readNote } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import { readField } from "./read-field.ts";
import { partId, partName } from "./texts.ts";

const DESK_FIELD = partName(DESK, 0);
const READ = { name: "desk" };

/** `changed`: tells the operators' feeds that a list shows the thread differently. */
export function deskSteps(
  { engine, codec }: StepsContext,
  changed: (slug: string, uid: string, atMs: number) => void,
): DeskStore {
  async function stored(uid: string): Promise<{ text: string | null; desk: Desk }> {
    const text = await readField(engine, tables.parts.key(uid), DESK_FIELD, READ);
    if (text === null) return { text, desk: NO_DESK };
    const desk = await codec.read(uid, (open) => readDesk(opened(text, { of: DESK, nth: 0 }, open), uid));
    return { text, desk };
  }

  return {
    desk: async (uid) => (await stored(uid)).desk,

    async keepDesk({ uid, slug, desk, note, atMs }) {
      const before = await stored(uid);
      if (before.desk.rev !== desk.rev - 1) return false;
      const header = tables.header.key(uid);
      const key = tables.parts.key(uid);
      const seal = await codec.sealOf({ uid, slug, userId: null });
      const part = (record: unknown, of: string, nth: number) => {
        const json = JSON.stringify(record);
        return [partName(of, nth), seal ? sealedPart(json, partId(of, nth), seal) : json] as const;
      };
      const fields = [
        ...(note ? [part(noteKind.stored(note), NOTES, desk.notes)] : []),
        part(deskKind.stored(desk), DESK, 0),
      ];
      const applied = await engine.apply({
        name: "keepDesk",
        slot: slotOf(header),
        checks: [
          fieldIs(header, HEADER.deletedAtMs, null),
          fieldIs(header, HEADER.slug, slug),
          { check: "field", key, field: DESK_FIELD, is: [before.text] },
        ],
        writes: [{ write: "set", key, fields }],
      });
      if (applied.type === "failed") return false;
      changed(slug, uid, atMs);
      return true;
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
          return readNote(opened(text, { of: NOTES, nth: at + 1 }, open), uid);
        }),
      );
    },
  };
}

function opened(text: string, { of, nth }: { of: string; nth: number }, open: Open): unknown {
  return jsonValue(openedPart(text, partId(of, nth), open));
}
