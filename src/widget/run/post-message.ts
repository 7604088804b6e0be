import { currentPage } from "../service/current-page.ts";
import type { CustomerContext } from "../service/customer-context.ts";
import { Unreachable } from "../service/transport.ts";
import type { Place } from "../service/visitor.ts";
import { postCatalog } from "../tools/post-catalog.ts";
import type { Item } from "../view/state.ts";
import type { Opening } from "./follow-run.ts";
import type { ConversationParts } from "./parts.ts";
import { newRecord } from "./run-record.ts";
import type { Transcript } from "./transcript.ts";

export interface OutgoingMessage {
  text: string;
  context: CustomerContext | null;
  /** Sent before, without an answer: it may have arrived all the same. */
  isAgain: boolean;
}

interface Posting {
  parts: ConversationParts;
  transcript: Transcript;
  message: OutgoingMessage;
  /** The message, and the reply to be, as they are shown. */
  question: Item;
  answer: Item;
  runId: string;
  signal: AbortSignal;
}

/** Posts the message; where it turns out to have arrived before, there is only its reply to listen to. */
export async function postMessage(posting: Posting): Promise<{ at: Place; opening: Opening }> {
  const { parts, transcript, message, question, answer, signal } = posting;
  const { desk } = parts;
  if (message.isAgain && (await transcript.holds(question))) {
    return { at: await desk.thread(), opening: { type: "attach" } };
  }
  try {
    return await desk.inThread(
      async (at) => ({ at, opening: { type: "message", response: await post(posting, at) } }),
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

async function post({ parts, message, runId, signal }: Posting, at: Place): Promise<Response> {
  const { text, context } = message;
  await postCatalog(parts, at);
  // Before it is sent: a page that is left right after finds the reply.
  parts.tab.write("run", newRecord(runId, at.threadId));
  const customerContext = context === null ? {} : { customerContext: context };
  return await parts.service({
    path: "/messages",
    token: at.token,
    body: { threadId: at.threadId, text, page: currentPage(), ...customerContext },
    signal,
  });
}
