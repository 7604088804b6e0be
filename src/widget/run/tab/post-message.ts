import type { ThreadAccess } from "../../service/visitor-session.ts";
import { busySeconds, refusedStatus, Unreachable } from "../../service/widget-api.ts";
import { postCatalog } from "../../tools/post-catalog.ts";
import { Backoff } from "./backoff.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { messageRequest } from "../messages/outgoing-message.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";
import { pauseBusy } from "./pause.ts";
import { newSavedRun } from "./saved-run.ts";
import type { Transcript } from "../messages/transcript.ts";

interface PostOptions extends ConversationDependencies {
  transcript: Transcript;
  message: OutgoingMessage;
  /** Sent before, and the service may have stored it. */
  isRepeat: boolean;
  signal: AbortSignal;
}

export interface PostedMessage {
  thread: ThreadAccess;
  /** The stream of the message's run. */
  response: Response;
}

/**
 * Posts the message until the service answers, a bounded number of times; a repeat stores nothing new. Rejects with a
 * refusal, with the last failure, or with the signal's reason.
 */
export async function postMessage(options: PostOptions): Promise<PostedMessage> {
  const { visitor, transcript, signal } = options;
  const backoff = new Backoff(options, signal);
  for (let mayBeTaken = options.isRepeat; ; mayBeTaken = true) {
    try {
      return await visitor.inThread(
        async (thread) => ({ thread, response: await post(options, thread) }),
        () => transcript.startOver(),
      );
    } catch (error) {
      signal.throwIfAborted();
      // If the message may be stored already, a 429 is not final: the visitor must not write it again.
      if (mayBeTaken && refusedStatus(error) === 429) await pauseBusy(options, busySeconds(error), signal);
      else if (!isUnanswered(error) || !(await backoff.wait(error))) throw error;
    }
  }
}

async function post(options: PostOptions, thread: ThreadAccess): Promise<Response> {
  const { api, host, tabStorage, message, signal } = options;
  await host.toolsSettled();
  await postCatalog(options, thread);
  // Saved before it is sent: if the visitor leaves right after, the next page sends it again.
  tabStorage.write("run", newSavedRun(message, thread.threadId));
  return await api({ ...messageRequest(message, thread, host), signal });
}

/** The message may have been stored, or not. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Unreachable || refusedStatus(error) >= 500;
}
