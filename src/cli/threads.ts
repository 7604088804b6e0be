import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Message } from "../domain/message.ts";
import { itemOf } from "../http/history-page.ts";
import type { RunSummary, Store, ThreadEntry } from "../store.ts";
import { channelThreadView, pagesOfChannelThreads, THREAD_STATES } from "../operators/channel-threads.ts";
import { deleteThread } from "../operators/forgetting.ts";
import { noteReading, runView } from "../operators/threads.ts";
import { asCommandLine } from "./as-command-line.ts";
import { forgettingIn } from "./forgetting.ts";
import { printJsonPages, printTablePages } from "./print-pages.ts";
import { printFields, printJson, printTable } from "./print.ts";
import { printable } from "../client/core/printable.ts";
import type { Terminal } from "./terminal.ts";
import { existingChannel, existingThread, existingUser } from "./existing.ts";
import { wholeHistory } from "./whole-history.ts";
import { withStore } from "./with-store.ts";

/** At most this many runs are shown. */
const RUNS = 100;

/** `chat-agent threads`: conversations, with their steps and runs. */
export function addThreads(program: Command, terminal: Terminal): void {
  const threads = program.command("threads").description("list, show and delete conversations");
  addList(threads, terminal);
  addShow(threads, terminal);
  addDelete(threads, terminal);
}

interface ListOptions {
  channel?: string;
  user?: string;
  state?: (typeof THREAD_STATES)[number];
  since?: number;
  until?: number;
  json?: boolean;
}

function addList(threads: Command, terminal: Terminal): void {
  threads
    .command("list")
    .description("the threads of a channel, the latest activity first; of one user, oldest first")
    .argument("[slug]", "the channel")
    .argument("[user]", "only this user's: external id, or user id")
    .option("--channel <slug>", "the channel, by name")
    .option("--user <user>", "only this user's, the latest activity first")
    .addOption(new Option("--state <state>", "only those in this state").choices(THREAD_STATES))
    .option("--since <ms>", "only those active then or later: Unix time in milliseconds", unixMs)
    .option("--until <ms>", "only those active then or before: Unix time in milliseconds", unixMs)
    .option("--json", "print a JSON array")
    .action(
      async (first: string | undefined, user: string | undefined, options: ListOptions, command: Command) => {
        const slug = options.channel ?? first;
        if (slug === undefined) command.error("error: which channel? Give its slug, or --channel");
        const excess = user === undefined ? undefined : onlyOfChannel(options);
        if (excess !== undefined) command.error(`error: ${excess} goes with --user USER, not with SLUG USER`);
        await withStore(terminal, (store) =>
          user === undefined
            ? printChannelThreads(store, terminal, slug, options)
            : printUserThreads(store, terminal, { slug, userId: user, json: options.json === true }),
        );
      },
    );
}

/** The first option that the list of one user, oldest first, would not heed. */
function onlyOfChannel(options: ListOptions): string | undefined {
  const names = ["channel", "user", "state", "since", "until"] as const;
  const given = names.find((name) => options[name] !== undefined);
  return given && `--${given}`;
}

async function printUserThreads(
  store: Store,
  terminal: Terminal,
  { slug, userId, json }: { slug: string; userId: string; json: boolean },
): Promise<void> {
  const user = await existingUser(store, slug, userId);
  const found = [];
  for (const entry of await store.threads(slug, user.userId)) found.push(await threadJson(store, entry));
  if (json) return printJson(terminal, found);
  printTable(
    terminal,
    ["ID", "THREAD", "CREATED", "STATE"],
    found.map(({ id, threadId, createdAt, state }) => [id, threadId, isoTime(createdAt), state]),
    `User ${userId} has no threads yet`,
  );
}

async function printChannelThreads(
  store: Store,
  terminal: Terminal,
  slug: string,
  options: ListOptions,
): Promise<void> {
  await existingChannel(store, slug);
  const { user, state = null, since: sinceMs = 0, until: untilMs = Infinity } = options;
  const userId = user === undefined ? null : (await existingUser(store, slug, user)).userId;
  const pages = pagesOfChannelThreads(store, slug, { state, userId, sinceMs, untilMs });
  if (options.json) return printJsonPages(terminal, pages, channelThreadView);
  await printTablePages(
    terminal,
    ["ID", "THREAD", "USER", "UPDATED", "STATE"],
    pages,
    ({ uid, threadId, userId: whose, updatedAtMs, state: now }) => [
      uid,
      threadId,
      whose,
      isoTime(updatedAtMs),
      now,
    ],
    `Channel ${slug} has no such threads yet`,
  );
}

function unixMs(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Unix time in milliseconds");
  return Number(text);
}

function addShow(threads: Command, terminal: Terminal): void {
  threads
    .command("show")
    .description("one conversation, with its steps and its latest runs")
    .argument("<slug>", "the channel")
    .argument("<id>", "the id that the list prints; with --user, your own id of the thread")
    .option("--user <user>", "whose thread: external id, or user id")
    .option("--json", "print JSON")
    .action(async (slug: string, id: string, options: { user?: string; json?: boolean }) => {
      await withStore(terminal, async (store) => {
        const entry = await existingThread(store, slug, { id, userId: options.user ?? null });
        await noteReading(asCommandLine(store), slug, entry.uid);
        const thread = await threadJson(store, entry);
        const messages = await wholeHistory(store, entry.uid);
        const runs = await store.runs(entry.uid, RUNS);
        if (options.json) {
          printJson(terminal, { ...thread, messages: messages.map(messageJson), runs: runs.map(runView) });
          return;
        }
        printFields(terminal, { ...thread, createdAt: isoTime(thread.createdAt) });
        for (const message of messages) printMessage(terminal, message);
        terminal.out("\n");
        printRuns(terminal, runs);
      });
    });
}

function addDelete(threads: Command, terminal: Terminal): void {
  threads
    .command("delete")
    .description("delete one conversation with everything in it, for good")
    .argument("<slug>", "the channel")
    .argument("<id>", "the id that the list prints; with --user, your own id of the thread")
    .option("--user <user>", "whose thread: external id, or user id")
    .option("--json", "print JSON")
    .action(async (slug: string, id: string, options: { user?: string; json?: boolean }) => {
      await withStore(terminal, async (store) => {
        const userId = options.user ?? null;
        const isNameless = userId === null && (await hasNameless(store, slug, id));
        const uid = isNameless ? id : (await existingThread(store, slug, { id, userId })).uid;
        await deleteThread(asCommandLine(store), forgettingIn(store), slug, uid);
        if (options.json) printJson(terminal, { deleted: { id: uid } });
        else terminal.out(`Deleted thread ${uid}\n`);
      });
    });
}

/** A thread that no user has a name for any more (`store check`): only its own record says whose channel's it is. */
async function hasNameless(store: Store, slug: string, id: string): Promise<boolean> {
  if ((await store.channelThread(slug, id)) !== null) return false;
  const record = await store.load(id, 1, "active");
  return record?.slug === slug;
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
  // A thread without a message has no record of its own yet.
  const state = (await store.load(entry.uid, 1))?.state ?? "idle";
  return { id: entry.uid, threadId: entry.threadId, createdAt: entry.createdAtMs, state };
}

/** A message as in the history; images without their content. */
function messageJson(message: Message) {
  const { attachments } = message;
  return { ...itemOf(message), ...(attachments === undefined ? {} : { attachments }) };
}

function printMessage(terminal: Terminal, message: Message): void {
  const who = message.author ? `${message.role}, ${printable(message.author.name)}` : message.role;
  terminal.out(`\n${isoTime(message.createdAtMs)}  ${who}\n`);
  for (const step of message.steps ?? []) {
    terminal.out(`  [${step.phase}] ${printable(step.id)}: ${printable(step.text)}\n`);
  }
  const text = printable(message.content).replaceAll("\n", "\n  ");
  terminal.out(`  ${text}\n`);
  for (const { name, url, type } of message.attachments ?? []) {
    terminal.out(
      `  [image] ${[name, url ?? type]
        .filter((word) => word !== undefined)
        .map(printable)
        .join(", ")}\n`,
    );
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
