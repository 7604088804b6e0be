import type { Message } from "../../../src/domain/threads/message.ts";
import type { Store } from "../../../src/store.ts";
import { textFaults } from "./conversation-faults.ts";
import { replyTo } from "../victims/echo-model.ts";
import { epochOf } from "../crash/play.ts";
import type { PeoplesPart, Play } from "../crash/play.ts";

/**
 * A person leaves the threads of a play to the assistant, wherever they stand: by the acts that are open to people then.
 * Answers what is wrong with them.
 */
export async function backToAssistant(play: Play, people: PeoplesPart, store: Store): Promise<string[]> {
  const faults: string[] = [];
  for (const uid of play.uids) {
    const record = await store.load(uid, 1);
    if (epochOf(record) < people.epoch) faults.push(`lost: epoch ${people.epoch}`);
    if (record?.state === "waiting_for_person" && uid === play.threadId) await play.stopWaiting();
    if (record?.state === "with_person") {
      await play.write("before I go");
      await play.giveBack("return");
    }
    // Of a wait in the bot's thread nothing is heard but its end.
    if (uid !== play.threadId) await play.expired();
  }
  return faults;
}

/**
 * What is wrong with a settled thread that people have had. A message that was left to a person has no reply of the model;
 * any other has its one, or what had been said of it when a person took the thread.
 */
export function handOffFaults(
  history: readonly Message[],
  told: { attempted: ReadonlySet<string>; acknowledged: ReadonlySet<string> },
  people: PeoplesPart,
): string[] {
  const asked = history.filter(({ role }) => role === "user");
  const faults = [
    ...textFaults(asked, told),
    ...textFaults(
      history.filter(({ author }) => author !== undefined),
      { ...people, acknowledged: new Set() },
    ),
  ];
  const runs = new Set(asked.map(({ runId }) => runId));
  for (const { content, runId, handledBy } of asked) {
    const replies = history.filter((message) => message.role === "assistant" && message.runId === runId);
    if (handledBy && replies.length > 0)
      faults.push(`the model answers what was left to a person: ${content}`);
    if (replies.length > 1) faults.push(`answered twice: ${content}`);
    for (const reply of replies) {
      if (reply.outcome === "done" && !isReply(reply.content, content)) {
        faults.push(`a wrong reply to ${content}: ${reply.content}`);
      }
    }
  }
  for (const { id, role, runId, author } of history) {
    const isNotice = runId.startsWith("item-");
    if (role === "assistant" && !author && !isNotice && !runs.has(runId))
      faults.push(`a reply to nothing: ${id}`);
  }
  return faults;
}

/** The whole of it, its beginning, or the words with which the model hands over. */
function isReply(reply: string, text: string): boolean {
  return replyTo(text).startsWith(reply) || (text.includes("#calls hand_off") && reply.includes("person"));
}
