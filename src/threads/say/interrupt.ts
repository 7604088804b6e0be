import type { Claims } from "../hold/claims.ts";
import type { ThreadDependencies } from "../dependencies.ts";

/**
 * A message waits. If its channel's `agent.whileRunning` is `interrupt`, ends the run that goes on, in the background. `runId`: of
 * the message's own run. `behind`: the run that goes on; null: the store is asked.
 */
export type Interrupt = (waiting: {
  uid: string;
  slug: string;
  runId: string;
  behind: string | null;
}) => void;

/** The message is stored before: whatever fails here, it is answered in its turn. */
export function createInterrupt({
  interrupts = () => false,
  claims,
  cancel,
  log,
}: Pick<ThreadDependencies, "interrupts" | "log"> & {
  claims: Pick<Claims, "load">;
  cancel: (uid: string, named: string, by: "message") => Promise<void>;
}): Interrupt {
  async function end({ uid, runId, behind }: Parameters<Interrupt>[0]): Promise<void> {
    const active = behind ?? (await claims.load(uid))?.run?.runId;
    // The message's own run may have begun by now.
    if (active !== undefined && active !== runId) await cancel(uid, active, "message");
  }

  return (waiting) => {
    const { uid, slug } = waiting;
    if (!interrupts(slug)) return;
    end(waiting).catch((error: unknown) =>
      log.warn({ uid, err: error }, "cannot end a run for the message that waits behind it"),
    );
  };
}
