import { useEffect, useRef, useState } from "preact/hooks";
import { readJsonLines } from "../../client/core/json-lines.ts";
import type { DraftLine } from "../../protocol/draft.ts";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import { useConsole } from "../shell/console-context.ts";

/** What the assistant would answer, as it writes it. */
export interface Suggestion {
  isWriting: boolean;
  trouble: string | null;
  /** `grown`: gets the text so far. */
  ask: (grown: (text: string) => void) => void;
  /** What is written no longer matters. */
  stop: () => void;
}

export function useSuggestion(slug: string, id: string): Suggestion {
  const { api } = useConsole();
  const [isWriting, setWriting] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const asking = useRef<AbortController | null>(null);
  const stop = () => asking.current?.abort();
  useEffect(() => stop, [slug, id]);

  async function follow(grown: (text: string) => void, { signal }: AbortController): Promise<void> {
    const path = pathOf("channels", slug, "threads", id, "draft");
    const body = await api.open(path, {}, signal, "POST");
    let text = "";
    // A cast: the service's lines are what the type says.
    for await (const line of readJsonLines(body.getReader()) as AsyncGenerator<DraftLine>) {
      if (line.type === "delta") grown((text += line.text));
      if (line.type === "error") throw new Error(line.message);
    }
  }

  return {
    isWriting,
    trouble,
    ask(grown) {
      stop();
      const one = new AbortController();
      asking.current = one;
      setWriting(true);
      setTrouble(null);
      follow(grown, one)
        .catch((error: unknown) => one.signal.aborted || setTrouble(messageOf(error)))
        .finally(() => asking.current === one && setWriting(false));
    },
    stop,
  };
}
