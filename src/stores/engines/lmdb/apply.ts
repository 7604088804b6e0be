import type { Applied, Check, Read, Step } from "../../engine.ts";
import type { LmdbDb } from "./file.ts";
import { answersOf } from "./reads.ts";
import type { View } from "./view.ts";
import { makeWrite } from "./writes.ts";

/** Makes a step, within a change of the file; one without writes needs none. */
export function applyStep<Reads extends readonly Read[]>(
  db: LmdbDb,
  view: View,
  step: Step & { reads?: Reads },
): Applied<Reads> {
  const { checks, writes, op, after = [] } = step;
  const reads = answersOf(view, step.reads);
  if (op && view.value(op.key, op.field) === op.value) {
    for (const write of after) makeWrite(db, view, write);
    return { type: "repeated", reads };
  }
  const failed = checks.findIndex((check) => !holds(view, check));
  if (failed >= 0) return { type: "failed", failed, reads };
  for (const write of writes) makeWrite(db, view, write);
  for (const write of after) makeWrite(db, view, write);
  return { type: "done", reads };
}

function holds(view: View, check: Check): boolean {
  switch (check.check) {
    case "field":
      return check.is.includes(view.value(check.key, check.field));
    case "score":
      return check.is.includes(view.score(check.key, check.member));
    case "key":
      return view.exists(check.key) === check.exists;
  }
}
