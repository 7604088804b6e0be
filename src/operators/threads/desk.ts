import { MOST_NOTES } from "../../domain/threads/desk.ts";
import type { Desk, Note } from "../../domain/threads/desk.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { DeskStore } from "../../store.ts";
import { note } from "../acting.ts";
import type { Acting } from "../acting.ts";
import { noteReading } from "./threads.ts";

/** A thread of a channel. */
interface On {
  slug: string;
  uid: string;
}

const TRIES = 10;

/** Each is in the audit, without its text. */
export async function setLabels(acting: Acting<DeskStore>, on: On, labels: string[]): Promise<void> {
  await note(acting, { action: "desk.label", target: on.uid, slug: on.slug });
  await change(acting, on, (desk) => ({ ...desk, labels }));
}

/** `untilMs`: null: it is in sight again. */
export async function snooze(acting: Acting<DeskStore>, on: On, untilMs: number | null): Promise<void> {
  await note(acting, { action: "desk.snooze", target: on.uid, slug: on.slug });
  const snoozed = untilMs === null ? null : { untilMs, sinceMs: acting.clock.now() };
  await change(acting, on, (desk) => ({ ...desk, snoozed }));
}

/** Resolves to the note's id. Refusal("conflict"): the thread has MOST_NOTES notes. */
export async function addNote(acting: Acting<DeskStore>, on: On, text: string): Promise<string> {
  await note(acting, { action: "desk.note", target: on.uid, slug: on.slug });
  const by = acting.operator;
  const changed = await change(
    acting,
    on,
    (desk) => {
      if (desk.notes >= MOST_NOTES) throw new Refusal("conflict", `A thread has ${MOST_NOTES} notes at most`);
      return { ...desk, notes: desk.notes + 1 };
    },
    ({ notes }) => ({ id: String(notes), by, text, atMs: acting.clock.now() }),
  );
  return String(changed.notes);
}

/** The reading is in the audit. Oldest first. */
export async function readNotes(acting: Acting<DeskStore>, { slug, uid }: On): Promise<Note[]> {
  await noteReading(acting, slug, uid);
  return acting.store.notes(uid);
}

export function noteView({ id, by, text, atMs }: Note) {
  return { id, by, text, at: atMs };
}

/** Made anew if somebody else was quicker. Refusal("not-found"): the thread is deleted, or has no message yet. */
async function change(
  { store, clock }: Acting<DeskStore>,
  { slug, uid }: On,
  changed: (desk: Desk) => Desk,
  noted?: (desk: Desk) => Note,
): Promise<Desk> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await store.desk(uid);
    const desk = { ...changed(before), rev: before.rev + 1 };
    const kept = { uid, slug, desk, ...(noted ? { note: noted(desk) } : {}), atMs: clock.now() };
    if (await store.keepDesk(kept)) return desk;
    if ((await store.desk(uid)).rev === before.rev) throw new Refusal("not-found", "Unknown thread");
  }
  throw new Refusal("unavailable", "Too many change this thread at once", 1);
}
