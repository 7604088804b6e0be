import { MOST_LABELS, MOST_NOTES } from "../../domain/threads/desk.ts";
import type { HandOffRating, Note } from "../../domain/threads/desk.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { DeskStore } from "../../store.ts";
import type { KeepDesk, OfThread } from "../../threads/desk/keep-desk.ts";
import { note } from "../acting.ts";
import type { Acting } from "../acting.ts";
import { noteReading } from "./threads.ts";

/** In the audit, without the labels. Refusal("conflict"): more than MOST_LABELS. */
export async function setLabels(
  acting: Acting<unknown>,
  keep: KeepDesk,
  on: OfThread,
  changed: (labels: readonly string[]) => string[],
): Promise<void> {
  await note(acting, { action: "desk.label", target: on.uid, slug: on.slug });
  await keep(on, (desk) => {
    const labels = changed(desk.labels);
    if (labels.length > MOST_LABELS)
      throw new Refusal("conflict", `A thread has ${MOST_LABELS} labels at most`);
    return { desk: { ...desk, labels } };
  });
}

/** `untilMs`: null: it is in sight again. */
export async function snooze(
  acting: Acting<unknown>,
  keep: KeepDesk,
  on: OfThread,
  untilMs: number | null,
): Promise<void> {
  await note(acting, { action: "desk.snooze", target: on.uid, slug: on.slug });
  const snoozed = untilMs === null ? null : { untilMs, sinceMs: acting.clock.now() };
  await keep(on, (desk) => ({ desk: { ...desk, snoozed } }));
}

/** Resolves to the note's id. Refusal("conflict"): the thread has MOST_NOTES notes. */
export async function addNote(
  acting: Acting<unknown>,
  keep: KeepDesk,
  on: OfThread,
  text: string,
): Promise<string> {
  await note(acting, { action: "desk.note", target: on.uid, slug: on.slug });
  const by = acting.operator;
  const kept = await keep(on, (desk) => {
    if (desk.notes >= MOST_NOTES) throw new Refusal("conflict", `A thread has ${MOST_NOTES} notes at most`);
    const notes = desk.notes + 1;
    const added = { id: String(notes), by, text, atMs: acting.clock.now() };
    return {
      desk: { ...desk, notes },
      note: added,
      event: { type: "note.created", data: { note: noteView(added) } },
    };
  });
  return String(kept.notes);
}

/** The reading is in the audit. Oldest first. */
export async function readNotes(acting: Acting<DeskStore>, { slug, uid }: OfThread): Promise<Note[]> {
  await noteReading(acting, slug, uid);
  return acting.store.notes(uid);
}

export function ratingView({ atMs, score, comment, by, queue }: HandOffRating) {
  return {
    at: atMs,
    score,
    ...(comment === undefined ? {} : { comment }),
    ...(by === undefined ? {} : { by }),
    ...(queue === undefined ? {} : { queue }),
  };
}

export function noteView({ id, by, text, atMs }: Note) {
  return { id, by, text, at: atMs };
}
