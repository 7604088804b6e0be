import { useRef, useState } from "preact/hooks";
import { pathOf } from "../service/api.ts";
import { Problem, messageOf } from "../service/problem.ts";
import type { ThreadView } from "../service/views.ts";
import { useConsole } from "../shell/console-context.ts";

/** An operator's actions in a conversation: take it, answer, give it back, close it. */
export interface HandOff {
  trouble: string | null;
  isBusy: boolean;
  /** `from`: the operator who has it, as the page shows; null: nobody. */
  take: (from: string | null) => Promise<boolean>;
  /** To a colleague or a queue; `from`: as with `take`. */
  assign: (to: { operator: string } | { queue: string }, from: string | null) => Promise<boolean>;
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
  /** `seen`: as it was last read. */
  { seen, lookAgain }: { seen: ThreadView | null; lookAgain: () => void },
): HandOff {
  const { api, me, tell } = useConsole();
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const typedAt = useRef(-Infinity);
  /** A message that may have arrived, with its id: sent again with the same id, it is not stored twice. */
  const unsure = useRef<{ text: string; id: string } | null>(null);
  const path = pathOf("channels", slug, "threads", id);

  /**
   * Does it at the epoch of a reading in which the conversation is `from`'s: nobody loses it unasked, however far behind the page is.
   * Once more if only the epoch was another one.
   */
  async function doneBy(does: (epoch: number) => Promise<unknown>, from: string | null): Promise<void> {
    const look = () => api.get<ThreadView>(path);
    const first = seen !== null && whoseOf(seen) === from ? seen : mustBeOf(from, await look());
    try {
      await does(first.epoch ?? 0);
    } catch (error) {
      if (!(error instanceof Problem && error.status === 409)) throw error;
      const now = mustBeOf(from, await look());
      if (now.epoch === first.epoch) throw tooLate(now, error);
      await does(now.epoch ?? 0);
    }
  }

  function mustBeOf(from: string | null, thread: ThreadView): ThreadView {
    if (whoseOf(thread) !== from) throw tooLate(thread);
    return thread;
  }

  const tooLate = (thread: ThreadView, cause?: unknown) =>
    new Error(lateText(whoseOf(thread), me.displayName ?? me.name), { cause });

  async function act(
    does: (epoch: number) => Promise<unknown>,
    done: string | null,
    from: string | null = me.displayName ?? me.name,
  ): Promise<boolean> {
    setTrouble(null);
    setBusy(true);
    try {
      await doneBy(does, from);
      if (done !== null) tell(done);
      return true;
    } catch (error) {
      setTrouble(messageOf(error));
      return false;
    } finally {
      setBusy(false);
      lookAgain();
    }
  }

  return {
    trouble,
    isBusy,
    take: (from) =>
      act((epoch) => api.send("POST", `${path}/take`, { epoch }), "The conversation is yours", from),
    assign: (to, from) =>
      act(
        (epoch) => api.send("POST", `${path}/assign`, { ...to, epoch }),
        "operator" in to ? `${to.operator} has the conversation` : `It waits in ${to.queue}`,
        from,
      ),
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

/** Who has it, as the visitor calls them; null: nobody. */
function whoseOf({ state, handoff }: ThreadView): string | null {
  return state === "with_person" ? (handoff?.shownAs ?? handoff?.with ?? null) : null;
}

function lateText(whose: string | null, reader: string): string {
  if (whose === reader)
    return "You have the conversation already. Look at the latest messages, then do it again.";
  return whose === null ? "Nobody has the conversation any more." : `${whose} has the conversation by now.`;
}

/** A page without https has no crypto.randomUUID. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
