import type { Store } from "../../../src/store.ts";
import type { Line } from "../../../machines/line.ts";
import { conversationFaults } from "../flaky/conversation-faults.ts";
import { backToAssistant, handOffFaults } from "../flaky/hand-off-faults.ts";
import type { Play } from "./play.ts";

/** Everything acknowledged is there once, and every thread of the play is of use. */
export async function faultsAfter(play: Play, store: Store): Promise<string[]> {
  const faults: string[] = [];
  try {
    await play.settled();
    for (const uid of play.uids) {
      const record = await store.load(uid, 1);
      const pending = record?.state === "awaiting" ? record.run?.terminal : null;
      if (pending?.type === "tool_call" && play.answered.has(pending.callId)) {
        faults.push(`an accepted result is pending again: ${pending.callId}`);
      }
    }
    if (play.account && play.token) {
      const { userId, externalId } = play.account;
      await play.identify(externalId);
      if (userId !== null && play.account.userId !== userId) faults.push("identify answers another user");
    }
    if (play.people) faults.push(...(await backToAssistant(play, play.people, store)));
    const usesWidget = ![...play.uids].some((uid) => uid !== play.threadId) || play.token !== null;
    if (usesWidget) {
      await play.enter();
      expectDone("the widget's thread", await play.say("last words"), faults);
    } else {
      expectDone("the thread", await play.tell("last words"), faults);
    }
    await play.settled();
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  }
  const histories = await Promise.all(
    [...play.uids].map((uid) => store.history(uid, { limit: 100, before: null })),
  );
  const all = histories.flat();
  faults.push(
    ...histories.flatMap((history) => {
      const told = { attempted: play.attempted, acknowledged: new Set<string>() };
      return play.people ? handOffFaults(history, told, play.people) : conversationFaults(history, told);
    }),
  );
  for (const text of play.acknowledged) {
    if (!all.some(({ role, content }) => role === "user" && content === text)) faults.push(`lost: ${text}`);
  }
  for (const text of play.people?.acknowledged ?? []) {
    if (!all.some(({ author, content }) => author && content === text)) faults.push(`lost: ${text}`);
  }
  return faults;
}

/** And by the model. */
function expectDone(what: string, line: Line, faults: string[]): void {
  if (line.type !== "done" || line.handledBy) faults.push(`${what} is not answered: ${JSON.stringify(line)}`);
}
