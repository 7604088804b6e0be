import { sendMessage } from "../fleet/api.ts";
import { lastUserText } from "../../support/servers/model-server.ts";
import { callsFor, toolAnswer } from "../fleet/shop-tools.ts";
import { begin, call, eventually, hold, longText, note, say } from "./world.ts";
import type { World } from "./world.ts";

const eve = { channel: "bot", userId: "eve" };
const TOO_OFTEN = "The run was interrupted too often";
const UNKNOWN = "The tools said: Error: The outcome of this call is unknown…";

/** Says what makes the model fall silent in the middle of a reply. */
async function fallSilent(world: World, threadId: string, text: string): Promise<void> {
  world.teach(text, [say("Once upon a "), hold()]);
  await begin(world, { ...eve, threadId, text }, "Once upon a ");
}

/** Resolves when the model was asked to answer that text, so often in all. */
async function asked(world: World, text: string, times: number): Promise<void> {
  await eventually(`attempt ${times} at "${text}"`, () => {
    const requests = world.model.requests.filter((request) => lastUserText(request) === text);
    return requests.length === times;
  });
}

const THIRD = { threadId: "third-attempt", text: "Tell a story thrice" };
const SECOND = { threadId: "second-attempt", text: "Tell a story twice" };

/** In the first process: it will be taken over twice. */
export async function beginThird(world: World): Promise<void> {
  await fallSilent(world, THIRD.threadId, THIRD.text);
}

/** In the second process: it will be taken over once. */
export async function beginSecond(world: World): Promise<void> {
  await asked(world, THIRD.text, 2);
  await fallSilent(world, SECOND.threadId, SECOND.text);
}

/** Runs that the last process leaves behind, over the server API. */
export async function writeRunningThreads(world: World): Promise<void> {
  await attempts(world);
  await thinkingAfterTools(world);
  await serverTools(world);
  await waitingMessages(world);
  await longAndUnsaved(world);
}

async function attempts(world: World): Promise<void> {
  await asked(world, THIRD.text, 3);
  await asked(world, SECOND.text, 2);
  await fallSilent(world, "first-attempt", "Tell a story");
  const thread = { slug: "bot", speaker: { userId: "eve" }, state: "running" as const };
  note(world, {
    ...thread,
    name: "thinking, with text that no save has",
    threadId: "first-attempt",
    follows: ["You said: Tell a story"],
  });
  note(world, {
    ...thread,
    name: "thinking, at the second attempt",
    threadId: SECOND.threadId,
    follows: [`You said: ${SECOND.text}`],
  });
  note(world, {
    ...thread,
    name: "thinking, at the last attempt",
    threadId: THIRD.threadId,
    follows: [TOO_OFTEN],
  });
}

async function thinkingAfterTools(world: World): Promise<void> {
  const text = "Look, and then think";
  world.teach(
    text,
    [say("I look. "), call("lookup", { article: "1003" })],
    [call("no_such_tool")],
    [say("I think "), hold()],
  );
  await begin(world, { ...eve, threadId: "thinking-late", text }, "I think ");
  const found = toolAnswer("lookup", "1003");
  note(world, {
    name: "thinking, after a result and a call of a tool that does not exist",
    slug: "bot",
    threadId: "thinking-late",
    speaker: { userId: "eve" },
    state: "running",
    follows: [`I look. The tools said: ${found} | Error: Cannot call "no_such_tool"…`],
  });
}

async function serverTools(world: World): Promise<void> {
  const runs = [
    {
      threadId: "repeatable",
      name: "using a tool that may be called again",
      stuck: "stuck-1",
      turn: [say("I look. "), call("lookup", { article: "stuck-1" })],
      follows: `I look. The tools said: ${toolAnswer("lookup", "stuck-1")}`,
      calls: { "stuck-1": 1 },
    },
    {
      threadId: "not-repeatable",
      name: "using a tool that may not be called again",
      stuck: "stuck-2",
      turn: [call("order", { article: "stuck-2" })],
      follows: UNKNOWN,
      calls: { "stuck-2": 0 },
    },
    {
      threadId: "between-calls",
      name: "using the second tool of three of one turn",
      stuck: "stuck-3",
      turn: ["1004", "stuck-3", "1005"].map((article) => call("lookup", { article })),
      follows: `The tools said: ${["1004", "stuck-3", "1005"].map((article) => toolAnswer("lookup", article)).join(" | ")}`,
      // Read-only calls are made side by side, since 0.2.0: the third one has its result.
      calls: { "1004": 0, "stuck-3": 1, "1005": 0 },
    },
  ];
  for (const { threadId, name, stuck, turn, follows, calls } of runs) {
    const text = `Go through ${threadId}`;
    world.teach(text, turn);
    await sendMessage(world.backend, { ...eve, threadId, text });
    await eventually(`the call for ${stuck}`, () => callsFor(world.tools, stuck) === 1);
    const speaker = { userId: "eve" };
    note(world, { name, slug: "bot", threadId, speaker, state: "running", follows: [follows], calls });
  }
}

async function waitingMessages(world: World): Promise<void> {
  const thread = { ...eve, threadId: "queue" };
  await fallSilent(world, "queue", "Say the first");
  await sendMessage(world.backend, { ...thread, text: "Say the second" });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await sendMessage(world.backend, { ...thread, text: "Say the third" }, { traceparent });
  await sendMessage(world.backend, { ...thread, text: "Say the fourth", displayName: "Eve the fourth" });
  const replies = ["second", "third", "fourth"].flatMap((nth) => [
    `Say the ${nth}`,
    `You said: Say the ${nth}`,
  ]);
  note(world, {
    name: "thinking, and three messages wait",
    slug: "bot",
    threadId: "queue",
    speaker: { userId: "eve" },
    state: "running",
    follows: ["You said: Say the first", ...replies],
    told: ["Eve the fourth"],
  });
}

async function longAndUnsaved(world: World): Promise<void> {
  const text = "Tell of all tides";
  world.teach(text, [...longText(), say("And then "), hold()]);
  await begin(world, { ...eve, threadId: "long-unsaved", text }, "And then ");
  note(world, {
    name: "thinking, with a part kept of a reply that no save has",
    slug: "bot",
    threadId: "long-unsaved",
    speaker: { userId: "eve" },
    state: "running",
    follows: [`You said: ${text}`],
  });
}
