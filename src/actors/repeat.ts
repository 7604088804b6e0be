import type { ProgressLine, TerminalLine } from "../../machines/line.ts";
import { Refusal } from "../domain/refusal.ts";
import type { SaidBefore } from "../store.ts";
import type { Attach } from "./attach.ts";
import type { Claims } from "./claims.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import type { Following } from "./following/following.ts";
import { findRun } from "./following/run-in-store.ts";
import { createReply } from "./reply.ts";
import type { Reply } from "./reply.ts";

/** The stream of the run that a message's first saying began, in whatever state it is. */
export type Repeat = (uid: string, said: SaidBefore) => Promise<Reply>;

export function createRepeat({
  claims,
  following,
  attach,
  store,
}: Pick<ThreadDependencies, "store"> & { claims: Claims; following: Following; attach: Attach }): Repeat {
  return (uid, { runId, isSameText }) => {
    if (!isSameText) throw new Refusal("invalid", "This clientMessageId was given to another text");

    return claims.onFresh(uid, undefined, async (record) => {
      if (record && record.run?.runId === runId) return attach(record, 0);
      const run = await findRun(store, record, { uid, runId });
      switch (run.type) {
        case "past":
          return told(runId, run.lines, run.terminal);
        case "held": {
          const reply = createReply(runId);
          following.expect(uid, reply, run.fence);
          return reply;
        }
        // It moved since the record was read.
        case "ended":
        case "free":
        case "lost":
          return "again";
      }
    });
  };
}

function told(runId: string, lines: readonly ProgressLine[], terminal: TerminalLine): Reply {
  const reply = createReply(runId);
  reply.say([...lines, terminal]);
  return reply;
}
