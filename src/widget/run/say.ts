import { postCatalog } from "../tools/post-catalog.ts";
import { writeDraft } from "./draft.ts";
import type { Opening } from "./follow-run.ts";
import { currentPage } from "../service/current-page.ts";
import type { CustomerContext } from "../service/customer-context.ts";
import type { ConversationParts } from "./parts.ts";
import { asHolder } from "./run-record.ts";
import type { RunRecord } from "./run-record.ts";
import { showNotTaken } from "./show-trouble.ts";
import type { Item } from "../view/state.ts";
import type { TabRun } from "./tab-run.ts";
import type { Transcript } from "./transcript.ts";
import { Unreachable } from "../service/transport.ts";
import type { Place } from "../service/visitor.ts";

export interface Message {
  text: string;
  context: CustomerContext | null;
  /** Sent before, without an answer: it may have arrived all the same. */
  isAgain: boolean;
}

/** The message, and the reply to be, as they are shown. */
interface Exchange {
  question: Item;
  answer: Item;
}

interface Speaker {
  parts: ConversationParts;
  transcript: Transcript;
  run: TabRun;
  /** Resolves when the visitor's earlier messages are shown, or cannot be had. */
  started(): Promise<void>;
}

/** Says a text. Resolves when its run has ended, however it did; rejects while another one is under way. */
export async function say(speaker: Speaker, message: Message): Promise<void> {
  const { parts, run } = speaker;
  const { board, host, tab, lockName } = parts;
  if (message.text === "") return;
  if (board.isRunning) throw new Error("Cannot send: a reply is under way");
  board.retireProblems();
  const exchange = { question: board.add("user", message.text), answer: board.add("assistant", "") };
  writeDraft(parts, "");
  board.phase("sending");
  host.emit("message", { role: "user", text: message.text });
  const id = Math.random().toString(36).slice(2);
  const signal = run.begin();
  try {
    // What was said before comes first; it is on its way where the panel was just opened.
    await speaker.started();
    board.phase("sending");
    signal.throwIfAborted();
    await asHolder(`${lockName}run:${id}`, async () => {
      const { at, opening } = await openRun(speaker, message, exchange, { id, signal });
      await run.carry(at, newRecord(id, at), opening, exchange.answer.key);
    });
  } catch (error) {
    tab.write("run", null);
    if (signal.aborted) run.showStopped(exchange.answer.key);
    else showNotTaken(parts, error, exchange);
  } finally {
    run.end();
  }
}

/** Posts the message; where it turns out to have arrived before, there is only its reply to listen to. */
async function openRun(
  { parts, transcript }: Speaker,
  message: Message,
  { question, answer }: Exchange,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<{ at: Place; opening: Opening }> {
  const { desk } = parts;
  if (message.isAgain && (await transcript.holds(question))) {
    return { at: await desk.thread(), opening: { type: "attach" } };
  }
  try {
    return await desk.inThread(
      async (at) => ({ at, opening: { type: "said", response: await post(parts, at, message, id, signal) } }),
      () => transcript.beginAnew(question, answer),
    );
  } catch (error) {
    // Broken off without an answer: before the message arrived, or after.
    if (!(error instanceof Unreachable) || !navigator.onLine) throw error;
    if (!(await transcript.holds(question))) throw error;
    signal.throwIfAborted();
    return { at: await desk.thread(), opening: { type: "attach" } };
  }
}

async function post(
  parts: ConversationParts,
  at: Place,
  { text, context }: Message,
  id: string,
  signal: AbortSignal,
): Promise<Response> {
  const { service, tab } = parts;
  await postCatalog(parts, at);
  // Before it is sent: a page that is left right after finds the reply.
  tab.write("run", newRecord(id, at));
  const customerContext = context === null ? {} : { customerContext: context };
  return await service({
    path: "/messages",
    token: at.token,
    body: { threadId: at.threadId, text, page: currentPage(), ...customerContext },
    signal,
  });
}

function newRecord(id: string, { threadId }: Place): RunRecord {
  return { phase: "talking", id, threadId, atMs: Date.now() };
}
