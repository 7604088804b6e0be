import { markedBlock } from "../../../src/agent/marked-block.ts";
import { expect } from "vitest";
import type { Line } from "../../../machines/line.ts";
import type { ModelServerRequest } from "../../support/servers/model-server.ts";
import { followRun, inThread, sendMessage } from "./api.ts";
import type { Page } from "./api.ts";
import { textOf } from "./client.ts";
import type { ReadStream } from "./client.ts";
import type { Continued } from "./continued.ts";
import { toldHistory, toldInstructions } from "./echoing-model.ts";
import { shownConversation } from "../golden/golden.ts";
import type { Golden, ShownConversation, ThreadFact } from "../golden/golden.ts";
import { callsFor } from "./shop-tools.ts";

/**
 * Goes on with one conversation from where it stands, to the reply to one more message. Answers the messages that it has
 * then.
 */
export async function goOn(
  golden: Golden,
  continued: Continued,
  thread: ThreadFact,
): Promise<ShownConversation["messages"]> {
  const page = pageOf(golden, continued, thread);
  const { approves: callId } = thread;
  if (callId !== undefined)
    await inThread(continued.backend, "approvals", { ...nameOf(thread), callId, approved: true });
  if (thread.refusal === undefined && page !== null) {
    if (thread.state === "idle") await expectLastEnd(golden, thread, page);
    else await endPresentRun(thread, page);
  }
  const stream = await say(golden, continued, thread);
  expect(stream.status).toBe(thread.refusal ?? 200);
  const lines = await linesOf(stream, () => follow(continued, thread, page));
  const { messages } = await continued.conversation(thread);
  if (thread.refusal !== undefined) return messages;

  expect(saidIn(lines)).toEqual(like(replyIn(golden, thread)));
  if (page !== null)
    expect(await page.history(thread.threadId)).toMatchObject({ status: 200, items: messages });
  expectTold(continued, thread, messages);
  return messages;
}

/** The messages that it must have then: those that it had, as they were shown, and what follows. */
export function messagesAfter(golden: Golden, thread: ThreadFact): object[] {
  const { messages } = shownConversation(golden, thread);
  if (thread.refusal !== undefined) return messages;
  const follow = [...(thread.follows ?? []), golden.facts.next, replyIn(golden, thread)];
  return [...messages, ...follow.map((content) => ({ content: like(content) }))];
}

function replyIn({ facts }: Golden, { reply }: ThreadFact): string {
  return reply ?? `You said: ${facts.next}`;
}

/** The last run's stream ends again as it ended then. */
async function expectLastEnd(golden: Golden, thread: ThreadFact, page: Page): Promise<void> {
  const last = shownConversation(golden, thread).runs.at(-1);
  expect(await endOf(page.follow(thread.threadId), thread, page)).toEqual(last?.terminal);
}

/** Everything that was to be done before another message is answered. */
async function endPresentRun(thread: ThreadFact, page: Page): Promise<void> {
  const { threadId, state, callId, answered, answers = [] } = thread;
  if (answered !== undefined) {
    const again = page.answer({ threadId, ...answered, result: "Another result" });
    expect(await endOf(again, thread, page)).toMatchObject({
      type: state === "awaiting" ? "tool_call" : "done",
    });
  }
  let end = await endOf(page.follow(threadId), thread, page);
  let pending = callId;
  for (const { tool, result } of answers) {
    expect(end).toMatchObject({ type: "tool_call", tool, callId: pending ?? expect.any(String) });
    if (end?.type !== "tool_call") return;
    end = await endOf(page.answer({ threadId, callId: end.callId, tool, result }), thread, page);
    pending = undefined;
  }
  expect(end).toMatchObject({ type: "done" });
}

async function endOf(
  stream: Promise<ReadStream>,
  { threadId }: ThreadFact,
  page: Page,
): Promise<Line | undefined> {
  return (await linesOf(await stream, () => page.follow(threadId))).at(-1);
}

/** All lines of the run, as a client has them: a service that stood still for seconds interrupts its streams, and goes on with the runs. */
async function linesOf(stream: ReadStream, again: () => Promise<ReadStream>): Promise<Line[]> {
  const lines = await stream.end();
  const end = lines.at(-1);
  return end?.type === "error" && end.code === "interrupted" ? linesOf(await again(), again) : lines;
}

/** What the model was asked with: the whole conversation, and what is known of the speaker. */
function expectTold(
  { model, tools }: Continued,
  { told = [], calls = {}, reply }: ThreadFact,
  messages: ShownConversation["messages"],
): void {
  const { requests } = model;
  if (reply === undefined) {
    const earlier = messages.slice(0, -1).flatMap(({ content, error, otherBranch }) => {
      if (otherBranch) return [];
      // The service's words for a failure are not the model's, and are marked as what the visitor was told.
      const failed = error ? [markedBlock("reply_failed", { told: error.message })] : [];
      const said = content === "" || content === error?.message ? [] : [content];
      return said.length + failed.length > 0 ? [[...said, ...failed].join("\n\n")] : [];
    });
    const histories = requests.map(toldHistory).filter(([first]) => first === earlier[0]);
    expect(histories).toContainEqual(earlier);
  }
  expect(told.filter((fact) => !requests.some(knows(fact)))).toEqual([]);
  const called = Object.fromEntries(Object.keys(calls).map((article) => [article, callsFor(tools, article)]));
  expect(called).toEqual(calls);
}

function knows(fact: string) {
  return (request: ModelServerRequest) => toldInstructions(request).includes(fact);
}

/** Says `next` as the thread's speaker. */
export function say(golden: Golden, continued: Continued, thread: ThreadFact): Promise<ReadStream> {
  const text = golden.facts.next;
  const page = pageOf(golden, continued, thread);
  if (page !== null) return page.say({ threadId: thread.threadId, text });
  return sendMessage(continued.backend, { ...nameOf(thread), text });
}

function follow(continued: Continued, thread: ThreadFact, page: Page | null): Promise<ReadStream> {
  return page === null ? followRun(continued.backend, nameOf(thread)) : page.follow(thread.threadId);
}

/** As a backend names it. */
export function nameOf({ slug, threadId, speaker }: ThreadFact) {
  return { channel: slug, threadId, userId: "userId" in speaker ? speaker.userId : "" };
}

/** null: its speaker comes over the server API. */
export function pageOf(golden: Golden, continued: Continued, { speaker }: ThreadFact): Page | null {
  if ("userId" in speaker) return null;
  const fact = golden.facts.tokens.find(({ name }) => name === speaker.token);
  return fact === undefined ? null : continued.page(fact.token);
}

/** What a stream has said: its text, or its error's message. */
export function saidIn(lines: readonly Line[]): string {
  const end = lines.at(-1);
  return end?.type === "error" ? end.message : textOf(lines);
}

/** A text in which each `…` stands for any text. */
export function like(pattern: string): unknown {
  const parts = pattern.split("…");
  if (parts.length === 1) return pattern;
  const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return expect.stringMatching(new RegExp(`^${escaped.join(".*")}$`, "su"));
}
