import { useEffect, useRef, useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import { saveAs } from "../service/save-as.ts";
import type { UserView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";

/** The export of a user as a file; leaving the page ends it. */
export function useExport(slug: string) {
  const { api, tell } = useConsole();
  /** null: none is under way. */
  const [bytes, setBytes] = useState<number | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  return {
    bytes,
    trouble,
    async save({ userId }: UserView): Promise<void> {
      const { signal } = leaving.current;
      const path = `${pathOf("channels", slug, "users", userId)}/export`;
      setTrouble(null);
      setBytes(0);
      try {
        const isSaved = await saveAs(`${slug}-${userId}.ndjson`, () => api.open(path, {}, signal), {
          signal,
          onBytes: setBytes,
        });
        if (isSaved) tell("The export is saved");
      } catch (error) {
        if (!signal.aborted) setTrouble(messageOf(error));
      } finally {
        if (!signal.aborted) setBytes(null);
      }
    },
  };
}
