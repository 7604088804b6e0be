import { hasKeptImages } from "../../domain/threads/attachments.ts";
import { runsWithImages } from "../../domain/threads/told-images.ts";
import { readFiles } from "../../domain/threads/told-files.ts";
import type { Turn } from "../../agent.ts";
import { withoutSummarized } from "../../domain/threads/history-summary.ts";
import type { HistorySummary } from "../../domain/threads/history-summary.ts";
import { wholeMessage } from "../../domain/threads/kept-text.ts";
import type { Catalog, Message, RunRecord } from "../../domain/threads/message.ts";
import type { Usage } from "../../../machines/run.ts";

/** The input of the next model call: the run, the user's text, and the history before it. */
export function nextTurn(thread: {
  slug: string;
  run: RunRecord;
  /** With the run's own message, oldest first. */
  history: readonly Message[];
  /** null: none. */
  summary: HistorySummary | null;
  catalog: Catalog;
  traceparent: string | null;
  usage: Usage | null;
}): Turn {
  const { run, history, summary, ...rest } = thread;
  const answers = run.again?.answers;
  const asked = history.findLastIndex(({ id, runId, role }) =>
    answers === undefined ? runId === run.runId && role === "user" : id === answers,
  );
  const {
    content: text = "",
    attachments,
    files,
    handedBack,
    runId: askedIn = run.runId,
  } = history[asked] ?? {};
  return {
    ...rest,
    run,
    text,
    ...(askedIn === run.runId ? {} : { askedIn }),
    ...(attachments === undefined ? {} : { attachments }),
    ...(files === undefined ? {} : { files }),
    ...(handedBack === undefined ? {} : { handedBack }),
    ...(summary === null ? {} : { summary }),
    before: withoutSummarized(history.slice(0, asked < 0 ? history.length : asked), summary),
  };
}

/** Reads back the stored parts of long replies that ended while this process held the thread. */
export function withWholeReplies(
  turn: Turn,
  /** The text of a run's first `parts` parts. */
  keptText: (runId: string, parts: number) => Promise<string>,
): Turn | Promise<Turn> {
  if (!turn.before.some(({ kept }) => kept)) return turn;
  const whole = turn.before.map(async (message) => {
    const { runId, kept } = message;
    return kept ? wholeMessage(message, await keptText(runId, kept.parts)) : message;
  });
  return Promise.all(whole).then((before) => ({ ...turn, before }));
}

/** Reads the images for the model anew for each turn, instead of holding them: hardly any thread has one. */
export function withImages(
  turn: Turn,
  keptImages: (runId: string) => Promise<string[]>,
): Turn | Promise<Turn> {
  const { run, before, attachments } = turn;
  if (attachments === undefined && !before.some((message) => message.attachments)) return turn;
  const answered = { runId: turn.askedIn ?? run.runId, ...(attachments && { attachments }) };
  const told = runsWithImages(answered, before);
  const read = [answered, ...before]
    .filter((said) => told.has(said.runId) && hasKeptImages(said.attachments))
    .map(async ({ runId }) => [runId, await keptImages(runId)] as const);
  return Promise.all(read).then((images) => ({ ...turn, images: new Map(images) }));
}

/** Reads the files for the model anew for each turn, as images are. */
export function withFiles(turn: Turn, read: Parameters<typeof readFiles>[2]): Turn | Promise<Turn> {
  const answered = { ...(turn.files && { files: turn.files }) };
  return readFiles(answered, turn.before, read)?.then((toldFiles) => ({ ...turn, toldFiles })) ?? turn;
}
