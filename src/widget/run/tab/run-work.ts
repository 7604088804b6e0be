import { isTerminal } from "../../../../machines/line.ts";
import type { TabContext, TabEvent } from "../../../../machines/tab-events.ts";
import { INTERRUPTED, isInterrupted, linesOf } from "../../../client/core/follow.ts";
import { isLine } from "../../../protocol/fits.ts";
import type { ThreadAccess } from "../../service/visitor-session.ts";
import { runIdOf } from "../../service/widget-api.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { messageRequest } from "../messages/outgoing-message.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";
import { problemOf } from "./problem-of.ts";
import type { CalledTool, ToolPart, ToolRun } from "./tool-part.ts";
import type { Transcript } from "../messages/transcript.ts";
import { warnOwner } from "../warn-owner.ts";

/** The run that the chart's states wait for (machines/tab.ts): each work resolves to the event that ends the wait. */
export interface RunAtWork
  extends ConversationDependencies, Pick<ToolRun, "signal" | "allowed" | "happened"> {
  transcript: Transcript;
  /** Known once the message is posted, or the run found. */
  thread: ThreadAccess | null;
  /** The answer to the message, until it is read. */
  response: Response | null;
}

/** Posts the message, in a new thread where there is none. Rejects as the request does. */
export async function post(run: RunAtWork, message: OutgoingMessage): Promise<TabEvent> {
  const { api, host, visitor, transcript, signal } = run;
  await visitor.inThread(
    async (thread) => {
      await host.toolsSettled();
      await (await host.toolPart())?.postCatalog(run, thread);
      run.thread = thread;
      // Saved before it is sent: if the visitor leaves right after, the next page sends it again.
      run.happened({ type: "thread.known", threadId: thread.threadId });
      run.response = await api({ ...messageRequest(message, thread, host), signal });
    },
    () => transcript.startOver(),
  );
  return { type: "message.accepted" };
}

/** Opens a stream of the run as the chart says, and reads it to its terminal line. Rejects where it breaks off. */
export async function readStream(run: RunAtWork, asked: TabContext): Promise<TabEvent> {
  const response = await openStream(run, asked);
  run.happened({ type: "stream.opened", runId: runIdOf(response) ?? asked.runId });
  if (response.status === 204 || response.body === null)
    return { type: "run.ended", end: { type: "none" }, mayRetry: false };
  for await (const line of linesOf(response.body)) {
    run.signal.throwIfAborted();
    if (isLine(line)) {
      run.host.emit("line", { line });
      if (!isTerminal(line)) run.happened({ type: "reply.grew", line });
      else if (line.type === "tool_call") return { type: "tool.called", call: line };
      else if (!isInterrupted(line)) {
        const mayRetry = line.type === "error" && problemOf(line, run.host.strings()).retry !== null;
        return { type: "run.ended", end: line, mayRetry };
      }
    }
    if (isInterrupted(line)) throw INTERRUPTED;
  }
  throw new Error("The connection ended");
}

async function openStream(
  { api, host, thread, response, signal }: RunAtWork,
  { opening, own, runId }: TabContext,
): Promise<Response> {
  if (opening === "answer" && response !== null) return response;
  if (thread === null) throw new Error("The run has no thread");
  const { visitorToken, threadId } = thread;
  if (opening === "message")
    // A cast: the chart carries the message unread.
    return await api({ ...messageRequest(own?.message as OutgoingMessage, thread, host), signal });
  if (opening === "result") {
    const body = { ...own?.body, threadId, page: host.page() };
    return await api({ path: "/tool-results", visitorToken, body, signal });
  }
  const query = runId === null ? "" : `?run=${encodeURIComponent(runId)}`;
  const path = `/threads/${encodeURIComponent(threadId)}/stream${query}`;
  return await api({ path, method: "GET", visitorToken, signal });
}

/** What the page's tools are asked for, where this page has no code for them. */
export async function withTools(
  { host }: RunAtWork,
  { callId, tool }: CalledTool,
  work: (part: ToolPart) => Promise<TabEvent>,
  type: "tool.answered" | "page.settled",
): Promise<TabEvent> {
  const part = await host.toolPart();
  if (part !== null) return await work(part);
  return { type, body: { callId, tool, result: "The page cannot use its tools", isError: true } };
}

/** Ends the run in the service; a failure is the owner's to know. */
export async function cancelRun(
  { api, visitor }: ConversationDependencies,
  runId: string | null,
): Promise<void> {
  const { threadId } = visitor;
  if (threadId === null) return;
  try {
    const path = `/threads/${encodeURIComponent(threadId)}/cancel`;
    // A stop that arrives late must not end the next run.
    await api({ path, visitorToken: await visitor.token(), body: runId === null ? undefined : { runId } });
  } catch (error) {
    warnOwner(error);
  }
}
