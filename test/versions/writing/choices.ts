import type { Line } from "../../../machines/line.ts";
import { threadUid } from "../../../src/domain/threads/thread-uid.ts";
import { act, answerAgain, inThread, keepFile, sendMessage } from "../fleet/api.ts";
import { toolAnswer } from "../fleet/shop-tools.ts";
import type { ThreadFact } from "../golden/golden.ts";
import { OPERATOR } from "./hand-off.ts";
import { call, endsIn, NEXT, note, say, talk } from "./world.ts";
import type { World } from "./world.ts";

/** The echo, said: the model is told of these threads in other words than they hold. */
const REPLY = `You said: ${NEXT}`;

const inCareful = (threadId: string) => ({ channel: "careful", userId: "zoe", threadId });

/** From 0.2.0 on: branches, ratings, files, words that nobody asked for, notes, and a call that waits for approval. */
export async function writeChoices(world: World): Promise<void> {
  await branches(world);
  await files(world);
  await spokenFirst(world);
  await waitsForApproval(world);
}

function noteCareful(
  world: World,
  threadId: string,
  fact: Pick<ThreadFact, "name"> & Partial<ThreadFact>,
): void {
  note(world, { slug: "careful", threadId, speaker: { userId: "zoe" }, ...fact });
}

async function branches(world: World): Promise<void> {
  const thread = inCareful("branched");
  await talk(world, { ...thread, text: "Do you have mugs?" });
  await talk(world, { ...thread, text: "And blue ones?" });
  await talk(world, { ...thread, text: "And green ones?", replaces: "3" });
  await endsIn("done", await answerAgain(world.backend, { ...thread, messageId: "6" }));
  await inThread(world.backend, "feedback", {
    ...thread,
    messageId: "2",
    rating: "down",
    comment: "Too short",
  });
  noteCareful(world, "branched", { name: "two branches, one answered once more, and a rated reply" });
}

async function files(world: World): Promise<void> {
  const thread = inCareful("with-file");
  const text = "article,price\nmug,12\n";
  const id = await keepFile(world.backend, { ...thread, name: "receipt.csv", text });
  await talk(world, { ...thread, text: "What did I pay?", files: [id] });
  noteCareful(world, "with-file", { name: "a message with a file", file: { id, text }, reply: REPLY });
}

async function spokenFirst(world: World): Promise<void> {
  const thread = inCareful("spoken-first");
  await inThread(world.backend, "say", { ...thread, text: "Your parcel has arrived." });
  const uid = threadUid(thread.channel, thread.userId, thread.threadId);
  const noted = { slug: "careful", uid, what: "notes", body: { text: "Known for returns" } } as const;
  await act(world.backend.url, world.operators[OPERATOR] ?? "", noted);
  noteCareful(world, "spoken-first", {
    name: "spoken to before anything was asked, and noted",
    reply: REPLY,
  });
}

async function waitsForApproval(world: World): Promise<void> {
  const thread = inCareful("asks");
  world.teach("Order 1007", [say("I order it. "), call("order", { article: "1007" })]);
  const stream = await sendMessage(world.backend, { ...thread, text: "Order 1007" });
  const asked = (lines: readonly Line[]) =>
    lines.flatMap((line) => (line.type === "step" && line.approval ? [line.approval.callId] : []))[0];
  await stream.until((lines) => asked(lines) !== undefined);
  noteCareful(world, "asks", {
    name: "a call that waits for approval",
    state: "running",
    approves: asked(stream.lines()) ?? "",
    follows: [`I order it. The tools said: ${toolAnswer("order", "1007")}`],
    calls: { "1007": 1 },
  });
}
