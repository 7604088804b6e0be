import { useEffect, useReducer } from "preact/hooks";
import type { Sight } from "../views.ts";
import { nothingSeen, withSight } from "./seen.ts";
import type { Seen } from "./seen.ts";
import type { Service } from "./service.ts";

/** All updates of a thread, as they happen. */
export function useWatchedThread(
  service: Service,
  threadId: string | null,
  onError: (error: unknown) => void,
): Seen {
  const [seen, tell] = useReducer(
    (state: Seen, sight: Sight | "forget") => (sight === "forget" ? nothingSeen : withSight(state, sight)),
    nothingSeen,
  );
  useEffect(() => {
    tell("forget");
    if (threadId === null) return;
    const watching = new AbortController();
    service.watch(threadId, tell, watching.signal).catch(onError);
    return () => watching.abort();
  }, [threadId]);
  return seen;
}
