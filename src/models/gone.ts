import type { ModelNote } from "../model.ts";
import { nameOf } from "./member.ts";
import type { Member } from "./member.ts";

/** Names of models come from settings; more of them are not told. */
const MOST_GONE = 1_000;

/** Models that their servers do not have, or not any more. A turn that is answered takes one off. */
export interface GoneModels {
  /** True if that is news. */
  is(member: Member, isGone: boolean): boolean;
  noteOf(member: Member): ModelNote;
  notes(): ModelNote[];
}

export function createGone(): GoneModels {
  const gone = new Map<string, Member>();
  const noteOf = ({ provider, model }: Member): ModelNote => ({
    provider,
    model,
    quirk: "gone",
    says: "its server has no such model, or nothing at this address; a chain asks the next one",
    remedy: `name another model instead of ${provider}/${model}, or correct the base URL of ${provider}`,
    lasts: true,
    forSeconds: 0,
  });
  return {
    is(member, isGone) {
      const name = nameOf(member);
      if (!isGone) return gone.size > 0 && gone.delete(name);
      if (gone.has(name) || gone.size >= MOST_GONE) return false;
      gone.set(name, { provider: member.provider, model: member.model });
      return true;
    },
    noteOf,
    notes: () => [...gone.values()].map(noteOf),
  };
}
