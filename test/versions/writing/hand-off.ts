import { threadUid } from "../../../src/domain/threads/thread-uid.ts";
import { act, inThread, sendMessage } from "../fleet/api.ts";
import type { ThreadFact } from "../golden/golden.ts";
import { call, comesTo, endsIn, eventually, hold, note, say, talk, visit } from "./world.ts";
import type { World } from "./world.ts";

export const OPERATOR = "ann";
const desk = (threadId: string) => ({ channel: "desk", userId: "kim", threadId });
const uidAt = (threadId: string) => threadUid("desk", "kim", threadId);

/** Threads that a person answers, is waited for, or has given back. */
export async function writeHandOffs(world: World): Promise<void> {
  const added = JSON.parse(await world.cli("operators", "add", OPERATOR, "--role", "agent", "--json")) as {
    key: string;
  };
  world.operators[OPERATOR] = added.key;
  await waiting(world);
  await withPerson(world);
  await givenBack(world);
  await nobodyCame(world);
}

function noteAtDesk(
  world: World,
  threadId: string,
  fact: Pick<ThreadFact, "name"> & Partial<ThreadFact>,
): void {
  note(world, { slug: "desk", threadId, speaker: { userId: "kim" }, ...fact });
}

/** What the operator does in a thread of the desk, from that epoch on. */
function operate(world: World, threadId: string) {
  const key = world.operators[OPERATOR] ?? "";
  return (what: "take" | "messages" | "return" | "close", body: object) =>
    act(world.backend.url, key, { slug: "desk", uid: uidAt(threadId), what, body });
}

async function waiting(world: World): Promise<void> {
  const state = "waiting_for_person";
  const visitor = await visit(world, "who asks for a person", "counter");
  const threadId = await visitor.openThread();
  await visitor.askForPerson(threadId, "A refund");
  note(world, {
    slug: "counter",
    threadId,
    speaker: { token: visitor.name },
    name: "waits for a person, never spoken in",
    state,
    epoch: 1,
  });

  const summary = { reason: "Wants a refund", summary: "Bought two mugs, both broken" };
  world.teach("A person, please", [say("Of course. "), call("hand_off", summary)]);
  await talk(world, { ...desk("handed-off"), text: "A person, please" });
  await talk(world, { ...desk("handed-off"), text: "Is anybody there?" });
  noteAtDesk(world, "handed-off", { name: "handed off by the model, and a message waits", state, epoch: 1 });

  await talk(world, { ...desk("by-transport"), text: "Hello" });
  await inThread(world.backend, "handoff", { ...desk("by-transport"), reason: "The bot's user clicked" });
  noteAtDesk(world, "by-transport", { name: "a transport has asked for a person", state, epoch: 1 });
}

async function withPerson(world: World): Promise<void> {
  const fact = { state: "with_person", with: OPERATOR } as const;
  world.teach("Tell me all", [say("Let me see. "), hold()]);
  const inTheMiddle = operate(world, "taken");
  const stream = await sendMessage(world.backend, { ...desk("taken"), text: "Tell me all" });
  await comesTo("see. ", stream);
  await inTheMiddle("take", { epoch: 0 });
  await endsIn("done", stream);
  await inTheMiddle("messages", { epoch: 1, text: "I am Ann", clientMessageId: "first" });
  await talk(world, { ...desk("taken"), text: "Good to meet you" });
  await inTheMiddle("messages", { epoch: 1, text: "What is it?" });
  noteAtDesk(world, "taken", {
    name: "taken in the middle of a reply, and both have written",
    epoch: 1,
    ...fact,
  });

  await talk(world, { ...desk("just-taken"), text: "Hello" });
  await inThread(world.backend, "handoff", desk("just-taken"));
  await operate(world, "just-taken")("take", { epoch: 1 });
  noteAtDesk(world, "just-taken", { name: "taken after a wait, and nobody has written", epoch: 2, ...fact });
}

async function givenBack(world: World): Promise<void> {
  const ends = [
    { threadId: "returned", what: "return", note: "Ask whether all is well", name: "returned with a note" },
    { threadId: "closed", what: "close", note: undefined, name: "closed" },
    { threadId: "gone-on", what: "return", note: "Be kind", name: "returned, and the model was told" },
  ] as const;
  for (const { threadId, what, note: words, name } of ends) {
    const operator = operate(world, threadId);
    await talk(world, { ...desk(threadId), text: `Hello from ${threadId}` });
    await operator("take", { epoch: 0 });
    await operator("messages", { epoch: 1, text: `I have ${threadId} it` });
    await operator(what, { epoch: 1, ...(words === undefined ? {} : { note: words }) });
    if (threadId === "gone-on") await talk(world, { ...desk(threadId), text: "Thank you" });
    noteAtDesk(world, threadId, { name, epoch: 2 });
  }
}

async function nobodyCame(world: World): Promise<void> {
  const thread = { channel: "hasty", userId: "kim", threadId: "nobody" };
  await talk(world, { ...thread, text: "Hello" });
  await inThread(world.backend, "handoff", thread);
  const { threadId } = thread;
  await eventually("the wait's end", async () => {
    const shown = JSON.parse(
      await world.cli("threads", "show", "hasty", threadUid("hasty", "kim", threadId), "--json"),
    ) as { messages: unknown[] };
    return shown.messages.length === 3;
  });
  note(world, { slug: "hasty", threadId, speaker: { userId: "kim" }, name: "nobody came", epoch: 2 });
}
