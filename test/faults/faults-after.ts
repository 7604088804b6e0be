import type { Store } from "../../src/store.ts";
import { conversationFaults } from "./conversation-faults.ts";
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
    ...histories.flatMap((history) =>
      conversationFaults(history, { attempted: play.attempted, acknowledged: new Set() }),
    ),
  );
  for (const text of play.acknowledged) {
    if (!all.some(({ role, content }) => role === "user" && content === text)) faults.push(`lost: ${text}`);
  }
  return faults;
}

function expectDone(what: string, line: { type: string }, faults: string[]): void {
  if (line.type !== "done") faults.push(`${what} is not answered: ${JSON.stringify(line)}`);
}
