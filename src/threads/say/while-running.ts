import type { WhileRunning } from "../../domain/channels/channel.ts";
import { holderOf } from "../../domain/threads/fence.ts";
import type { InstanceMessage, ThreadRecord } from "../../store.ts";
import { threadHost } from "../../charts/charts.ts";
import { nameOfState } from "../thread-state.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { Claims } from "../hold/claims.ts";
import type { HeldThreads } from "../hold/held-threads.ts";

/**
 * What a message does that waits while a run goes on, by its channel's `agent.whileRunning`: nothing (`queue`); the run
 * ends before the next turn of its model, which the message's run begins in its place (`steer`); the run ends now
 * (`interrupt`), as with a message that begins a branch. A run that waits for the visitor's approval ends whatever the setting is: the visitor went on to
 * something else, as with a page tool.
 */
export interface MessageBehind {
  /** In the background: the message is stored, and whatever fails here, it is answered in its turn. */
  waits(waiting: Waiting): void;
  /** Another instance has stored a message behind a run that is held here; false if it is something else. */
  receive(message: InstanceMessage): boolean;
}

interface Waiting {
  uid: string;
  slug: string;
  /** The message's own run. */
  runId: string;
  /** It stands in the place of an earlier item. */
  beginsBranch: boolean;
}

const STEER = "steer";

export function createMessageBehind({
  whileRunning = () => "queue",
  claims,
  cancel,
  held,
  store,
  log,
}: Pick<ThreadDependencies, "whileRunning" | "store" | "log"> & {
  claims: Pick<Claims, "load">;
  cancel: (uid: string, named: string, by: "message") => Promise<void>;
  held: HeldThreads;
}): MessageBehind {
  async function act({ uid, runId }: Waiting, mode: WhileRunning): Promise<void> {
    const record = await claims.load(uid);
    const active = record?.run?.runId;
    // The message's own run may have begun by now.
    if (!record || active === undefined || active === runId) return;
    if (mode === "interrupt" || waitsForVisitor(record)) return cancel(uid, active, "message");
    if (mode === "steer" && record.fence !== null) steer(uid, active, record.fence);
  }

  function steer(uid: string, runId: string, fence: string): void {
    const thread = held.get(uid);
    if (thread?.fence === fence) void thread.receive({ type: "run.steered", runId });
    else store.send(holderOf(fence), { type: STEER, uid, runId });
  }

  return {
    waits(waiting) {
      const { uid, slug } = waiting;
      act(waiting, waiting.beginsBranch ? "interrupt" : whileRunning(slug)).catch((error: unknown) =>
        log.warn({ uid, err: error }, "cannot tell a run of the message that waits behind it"),
      );
    },

    receive({ type, uid, runId }) {
      if (type !== STEER) return false;
      if (typeof uid === "string" && typeof runId === "string")
        void held.get(uid)?.receive({ type: "run.steered", runId });
      return true;
    },
  };
}

function waitsForVisitor({ uid, snapshot }: ThreadRecord): boolean {
  if (!snapshot) return false;
  const { value, context } = threadHost.thaw(snapshot, uid);
  return nameOfState(value) === "running.awaitingApproval" && context.run?.calls[0]?.confirm === "visitor";
}
