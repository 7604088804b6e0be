import { useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import { messageOf } from "../service/problem.ts";
import { useConsole } from "../shell/console-context.ts";

/** What operators keep of a conversation. */
export interface DeskActions {
  trouble: string | null;
  /** Resolves to true if they are set. */
  label: (labels: string[]) => Promise<boolean>;
  /** null: it is in the inbox again. */
  snooze: (untilMs: number | null) => Promise<boolean>;
}

/** `lookAgain`: reads the conversation's facts anew. */
export function useDesk(slug: string, id: string, lookAgain: () => void): DeskActions {
  const { api, tell } = useConsole();
  const [trouble, setTrouble] = useState<string | null>(null);
  const path = pathOf("channels", slug, "threads", id);

  async function does(work: Promise<unknown>, done: string | null): Promise<boolean> {
    try {
      await work;
      setTrouble(null);
      if (done !== null) tell(done);
      lookAgain();
      return true;
    } catch (error) {
      setTrouble(messageOf(error));
      return false;
    }
  }

  return {
    trouble,
    label: (labels) => does(api.send("PUT", `${path}/labels`, { labels }), null),
    snooze: (until) =>
      does(
        api.send("POST", `${path}/snooze`, { until }),
        until === null ? "It is in the inbox again" : "Snoozed",
      ),
  };
}
