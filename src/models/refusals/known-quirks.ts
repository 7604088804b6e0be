import type { Clock } from "../../clock.ts";
import type { ModelNote } from "../../model.ts";
import { NO_QUIRKS } from "./quirks.ts";
import type { Quirks } from "./quirks.ts";

/** What was learned is asked again after this time: a server, or what stands behind it, may have changed. */
export const LEARNED_FOR_MS = 3_600_000;
/** More names than channels use: names come from channel settings, not from callers. */
const MAX_MODELS = 1_000;
/** Of one model; pages can bring new tools with each message. Later ones are heeded without a word. */
const MAX_NOTES = 50;

/** The known quirks of each model of a provider. */
export interface KnownQuirks {
  of(model: string): Quirks;
  /** Keeps them until an hour after the model's first lesson. */
  note(model: string, quirks: Quirks): void;
  /** Keeps a note as long; false: it is kept already, or there are too many. `lasts`: beyond the turn. */
  tell(model: string, note: Note): boolean;
  notes(): ModelNote[];
}

export type Note = Pick<ModelNote, "quirk" | "says" | "remedy" | "lasts">;

interface Learned {
  quirks: Quirks;
  untilMs: number;
  notes: Map<string, Note>;
}

/** `said`: by the server's row and the settings. `provider`: its name. */
export function createKnownQuirks(
  said: Partial<Quirks>,
  { provider, clock }: { provider: string; clock: Pick<Clock, "elapsed"> },
): KnownQuirks {
  const beforehand: Quirks = { ...NO_QUIRKS, ...said };
  const known = new Map<string, Learned>();

  function learnedOf(model: string): Learned | null {
    const learned = known.get(model);
    if (!learned) return null;
    if (clock.elapsed() < learned.untilMs) return learned;
    known.delete(model);
    return null;
  }

  function openLearned(model: string): Learned {
    const learned = learnedOf(model);
    if (learned) return learned;
    if (known.size >= MAX_MODELS) known.clear();
    const opened = { quirks: beforehand, untilMs: clock.elapsed() + LEARNED_FOR_MS, notes: new Map() };
    known.set(model, opened);
    return opened;
  }

  return {
    of: (model) => (known.size === 0 ? beforehand : (learnedOf(model)?.quirks ?? beforehand)),
    note: (model, quirks) => void (openLearned(model).quirks = quirks),
    tell(model, note) {
      const { notes } = openLearned(model);
      // A limit has another number with each history.
      const key = note.quirk === "maxInputTokens" ? note.quirk : `${note.quirk} ${note.says}`;
      if (notes.has(key) || notes.size >= MAX_NOTES) return false;
      notes.set(key, note);
      return true;
    },
    notes() {
      return [...known.keys()].flatMap((model) => {
        const learned = learnedOf(model);
        if (!learned) return [];
        const forSeconds = Math.ceil((learned.untilMs - clock.elapsed()) / 1_000);
        return [...learned.notes.values()].map((note) => ({ provider, model, ...note, forSeconds }));
      });
    },
  };
}
