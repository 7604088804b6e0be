import { useRef, useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import { Problem, messageOf } from "../service/problem.ts";
import type { ThreadView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";

/** An operator's actions in a conversation: take it, answer, give it back, close it. */
export interface HandOff {
  trouble: string | null;
  isBusy: boolean;
  take: () => void;
  /** Resolves to true if the message was sent. */
  say: (text: string) => Promise<boolean>;
  typing: () => void;
  /** `note`: for the assistant. */
  giveBack: (note: string) => Promise<boolean>;
  close: () => void;
}

/** A typing signal lasts six seconds. */
const TYPING_EVERY_MS = 4_000;

/**
 * Each change names the epoch that was seen: if somebody else was faster, nothing changes, and the page reloads.
 * `seenEpoch`: the epoch that the page shows; null: not known yet, and read first.
 */
export function useHandOff(
  slug: string,
  id: string,
  { seenEpoch, lookAgain }: { seenEpoch: number | null; lookAgain: () => void },
): HandOff {
  const { api, tell } = useConsole();
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const typedAt = useRef(-Infinity);
  /** A message that may have arrived, with its id: sent again with the same id, it is not stored twice. */
  const unsure = useRef<{ text: string; id: string } | null>(null);
  const path = pathOf("channels", slug, "threads", id);

  async function act(does: (epoch: number) => Promise<unknown>, done: string | null): Promise<boolean> {
    setTrouble(null);
    setBusy(true);
    try {
      await does(seenEpoch ?? (await api.get<ThreadView>(path)).epoch ?? 0);
      if (done !== null) tell(done);
      return true;
    } catch (error) {
      const isLate = error instanceof Problem && error.status === 409;
      setTrouble(isLate ? `Who answers has changed meanwhile. ${error.message}` : messageOf(error));
      return false;
    } finally {
      setBusy(false);
      lookAgain();
    }
  }

  return {
    trouble,
    isBusy,
    take: () => void act((epoch) => api.send("POST", `${path}/take`, { epoch }), "The conversation is yours"),
    say(text) {
      const message = unsure.current?.text === text ? unsure.current : { text, id: newId() };
      unsure.current = message;
      return act(async (epoch) => {
        await api.send("POST", `${path}/messages`, { text, epoch, clientMessageId: message.id });
        unsure.current = null;
      }, null);
    },
    typing() {
      if (performance.now() - typedAt.current < TYPING_EVERY_MS) return;
      typedAt.current = performance.now();
      api.send("POST", `${path}/typing`).catch(() => {});
    },
    giveBack: (note) =>
      act(
        (epoch) => api.send("POST", `${path}/return`, { epoch, ...(note === "" ? {} : { note }) }),
        "The assistant has the conversation again",
      ),
    close: () => void act((epoch) => api.send("POST", `${path}/close`, { epoch }), "Your part is over"),
  };
}

/** A page without https has no crypto.randomUUID. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
