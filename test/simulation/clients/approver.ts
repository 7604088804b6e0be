import type { Line } from "../../../machines/line.ts";
import type { TalkPlan } from "../plan.ts";
import type { Random } from "../random.ts";
import type { Client } from "./client.ts";
import type { SentRequest } from "./requests.ts";

/**
 * A user who is asked to approve calls, by the lines of the streams that they read: decides each once, or not at all, or
 * both ways at once.
 */
export function createApprover(
  client: Client,
  { talk, random }: { talk: TalkPlan; random: Random },
): (approve: (decision: { callId: string; approved: boolean }) => SentRequest) => (line: Line) => void {
  const asked = new Set<string>();

  return (approve) => (line) => {
    if (line.type !== "step" || !line.approval || asked.has(line.approval.callId)) return;
    const { callId } = line.approval;
    asked.add(callId);
    if (!random.chance(talk.decides)) return;
    const approved = !random.chance(talk.declines);
    const isTorn = random.chance(talk.atOnce);
    void client.pause(random.between(0, 2_000)).then(async () => {
      const first = client.sendUntilAnswered(() => approve({ callId, approved }));
      if (isTorn) await client.send(approve({ callId, approved: random.chance(0.5) === approved }));
      await first;
    });
  };
}
