import { useEffect, useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import type { ChangesView, ChangeView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";
import type { TalkState } from "./talk-state.ts";

const NOTHING: ChangesView = { items: [], ratings: [] };

/** Who answered when; read again when who answers changes. What cannot be read is left out. */
export function useChanges(
  slug: string,
  id: string,
  { person, isWanted }: { person: TalkState["person"]; isWanted: boolean },
): ChangesView {
  const { api } = useConsole();
  const [changes, setChanges] = useState(NOTHING);
  const path = `${pathOf("channels", slug, "threads", id)}/handoffs`;
  const who = person && ("name" in person ? person.name : person.sinceMs);
  useEffect(() => {
    const leaving = new AbortController();
    if (isWanted)
      api.get<ChangesView>(path, {}, leaving.signal).then(setChanges, () => {
        if (!leaving.signal.aborted) setChanges(NOTHING);
      });
    return () => leaving.abort();
  }, [path, who, isWanted]);
  return changes;
}

/** The change as a sentence. Why a person was asked for is among the facts. */
export function changeText({ how, by = "", shownAs, queue }: ChangeView): string {
  const name = shownAs === undefined ? by : `${by} (${shownAs})`;
  const where = queue === undefined ? "" : ` in ${queue}`;
  switch (how) {
    case "asked":
      return `A person was asked for${where}`;
    case "queued":
      return `It waits${where}`;
    case "taken":
      return `${name} has taken it`;
    case "returned":
      return `${name} has given it back to the assistant`;
    case "closed":
      return `${name} has closed it`;
    case "unanswered":
      return `${name} left the visitor without an answer: it waits again`;
    case "cancelled":
      return "The visitor stopped waiting";
    case "expired":
      return "Nobody came in time";
    // A newer service may know others.
    default:
      return how;
  }
}
