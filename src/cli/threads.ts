import type { Command } from "commander";
import type { Message } from "../domain/message.ts";
import type { RunSummary, Store, ThreadEntry } from "../store.ts";
import { note } from "../operators/acting.ts";
import { pagesOfUsers } from "../operators/users.ts";
import { asCommandLine } from "./as-command-line.ts";
import { printFields, printJson, printTable } from "./print.ts";
import { CannotDo, printable } from "./terminal.ts";
import type { Terminal } from "./terminal.ts";
import { existingChannel, existingUser } from "./existing.ts";
import { withStore } from "./with-store.ts";

/** The longest page of history that the store gives. */
const PAGE = 100;

/** `chat-agent threads`: conversations, with their steps and runs. */
export function addThreads(program: Command, terminal: Terminal): void {
  const threads = program.command("threads").description("list and show conversations");
  addList(threads, terminal);
  addShow(threads, terminal);
}

function addList(threads: Command, terminal: Terminal): void {
  threads
    .command("list")
    .description("the threads of a user, oldest first")
    .argument("<slug>", "the channel")
    .argument("<user>", "external id, or user id")
    .option("--json", "print a JSON array")
    .action(async (slug: string, userId: string, options: { json?: boolean }) => {
      await withStore(terminal, async (store) => {
        const user = await existingUser(store, slug, userId);
        const found = [];
        for (const entry of await store.threads(slug, user.userId))
          found.push(await threadJson(store, entry));
        if (options.json) return printJson(terminal, found);
        printTable(
          terminal,
          ["ID", "THREAD", "CREATED", "STATE"],
          found.map(({ id, threadId, createdAt, state }) => [id, threadId, isoTime(createdAt), state]),
          `User ${userId} has no threads yet`,
        );
      });
    });
}

function addShow(threads: Command, terminal: Terminal): void {
  threads
    .command("show")
    .description("one conversation, with its steps and its latest runs")
    .argument("<slug>", "the channel")
    .argument("<id>", "the id that the list prints")
    .option("--json", "print JSON")
    .action(async (slug: string, id: string, options: { json?: boolean }) => {
      await withStore(terminal, async (store) => {
        await existingChannel(store, slug);
        const entry = await findThread(store, slug, id);
        if (entry === null)
          throw new CannotDo(`Cannot find thread ${id}: channel ${slug} has none of that id`);
        await note(asCommandLine(store), { action: "thread.read", target: id, slug });
        const thread = await threadJson(store, entry);
        const messages = await wholeHistory(store, id);
        const runs = await store.runs(id, PAGE);
        if (options.json) {
          printJson(terminal, { ...thread, messages: messages.map(messageJson), runs: runs.map(runJson) });
          return;
        }
        printFields(terminal, { ...thread, createdAt: isoTime(thread.createdAt) });
        for (const message of messages) printMessage(terminal, message);
        terminal.out("\n");
        printRuns(terminal, runs);
      });
    });
}

function printRuns(terminal: Terminal, runs: readonly RunSummary[]): void {
  printTable(
    terminal,
    ["RUN", "SAID", "OUTCOME", "ENDED WITH", "MOVES"],
    runs.map((run) => [
      run.runId,
      isoTime(run.saidAtMs),
      run.outcome ?? "active",
      run.terminal?.type ?? null,
      run.path.length,
    ]),
    "No run yet",
  );
}

async function threadJson(store: Store, entry: ThreadEntry) {
  // A thread that was never spoken in has no record of its own yet.
  const state = (await store.load(entry.uid, 1))?.state ?? "idle";
  return { id: entry.uid, threadId: entry.threadId, createdAt: entry.createdAtMs, state };
}

/** A thread does not name its user. Most likely it is the user of its last run; after a merge it is another one. */
async function findThread(store: Store, slug: string, uid: string): Promise<ThreadEntry | null> {
  const record = await store.load(uid, 1);
  if (record !== null && record.slug !== slug) return null;
  const likely = record?.run?.userId;
  const entryOf = async (userId: string) =>
    (await store.threads(slug, userId)).find((thread) => thread.uid === uid);
  const entry = likely === undefined ? undefined : await entryOf(likely);
  if (entry !== undefined) return entry;
  for await (const users of pagesOfUsers(store, slug, "newest first")) {
    for (const { user } of users) {
      const found = await entryOf(user.userId);
      if (found !== undefined) return found;
    }
  }
  return null;
}

async function wholeHistory(store: Store, uid: string): Promise<Message[]> {
  const pages: Message[][] = [];
  for (let before: string | null = null; ;) {
    const page: Message[] = await store.history(uid, { limit: PAGE, before });
    pages.unshift(page);
    const oldest = page[0];
    if (page.length < PAGE || oldest === undefined) return pages.flat();
    before = oldest.id;
  }
}

/** As the widget's history shows it. */
function messageJson(message: Message) {
  const { id, role, content, createdAtMs, steps, model, error } = message;
  return {
    id,
    role,
    content,
    createdAt: createdAtMs,
    ...(steps === undefined ? {} : { steps }),
    ...(model === undefined ? {} : { model }),
    ...(error === undefined ? {} : { error }),
  };
}

function runJson(run: RunSummary) {
  return {
    id: run.runId,
    saidAt: run.saidAtMs,
    outcome: run.outcome,
    terminal: run.terminal,
    path: run.path,
  };
}

function printMessage(terminal: Terminal, message: Message): void {
  terminal.out(`\n${isoTime(message.createdAtMs)}  ${message.role}\n`);
  for (const step of message.steps ?? []) {
    terminal.out(`  [${step.phase}] ${printable(step.id)}: ${printable(step.text)}\n`);
  }
  const text = printable(message.content).replaceAll("\n", "\n  ");
  terminal.out(`  ${text}\n`);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
