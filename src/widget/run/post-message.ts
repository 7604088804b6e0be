import { currentPage } from "../service/current-page.ts";
import type { CustomerContext } from "../service/customer-context.ts";
import type { ThreadAccess } from "../service/visitor-session.ts";
import { Unreachable } from "../service/widget-api.ts";
import { postCatalog } from "../tools/post-catalog.ts";
import type { ShownMessage } from "../view/view-state.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";
import type { StreamOpening } from "./follow-run.ts";
import { newSavedRun } from "./saved-run.ts";
import type { Transcript } from "./transcript.ts";

export interface OutgoingMessage {
  text: string;
  context: CustomerContext | null;
  /** Sent before, without a response: it may have arrived. */
  isAgain: boolean;
}

interface PostOptions extends ConversationDependencies {
  transcript: Transcript;
  message: OutgoingMessage;
  /** The message and its reply to be, as they are shown. */
  sent: ShownMessage;
  reply: ShownMessage;
  runId: string;
  signal: AbortSignal;
}

export interface PostedMessage {
  thread: ThreadAccess;
  opening: StreamOpening;
}

/** Posts the message, unless it turns out to have arrived before: then only its stream is opened. */
export async function postMessage(options: PostOptions): Promise<PostedMessage> {
  const { visitor, transcript, message, sent, reply, signal } = options;
  const attach = async (): Promise<PostedMessage> => ({
    thread: await visitor.thread(),
    opening: { type: "attach" },
  });
  if (message.isAgain && (await transcript.hasArrived(sent))) return await attach();
  try {
    return await visitor.inThread(
      async (thread) => ({ thread, opening: { type: "message", response: await post(options, thread) } }),
      () => transcript.startOver(sent, reply),
    );
  } catch (error) {
    // Cut off without a response: before the message arrived, or after.
    if (!(error instanceof Unreachable) || !navigator.onLine) throw error;
    if (!(await transcript.hasArrived(sent))) throw error;
    signal.throwIfAborted();
    return await attach();
  }
}

async function post(options: PostOptions, thread: ThreadAccess): Promise<Response> {
  const { api, tabStorage, message, runId, signal } = options;
  const { visitorToken, threadId } = thread;
  await postCatalog(options, thread);
  // Saved before it is sent: if the visitor leaves right after, the next page shows the reply.
  tabStorage.write("run", newSavedRun(runId, threadId));
  const { text, context } = message;
  const body = { threadId, text, page: currentPage(), customerContext: context ?? undefined };
  return await api({ path: "/messages", visitorToken, body, signal });
}
