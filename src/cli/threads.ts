import { InvalidArgumentError, Option } from "commander";
import { printable } from "../client/core/printable.ts";
import { declaredType } from "../domain/threads/attachments.ts";
import type { Attachment } from "../domain/threads/attachments.ts";
import type { HistoryItem } from "../protocol/history.ts";
import { THREAD_STATES } from "../operators/threads/channel-threads.ts";
import type { channelThreadView } from "../operators/threads/channel-threads.ts";
import type { viewOfSummary } from "../operators/threads/history-summary.ts";
import type { runView } from "../operators/threads/threads.ts";
import { at } from "./command/ask.ts";
import type { OperatorApi, Refused } from "./command/ask.ts";
import { command } from "./command/command.ts";
import type { Call, Command, Family } from "./command/command.ts";
import { printJsonPages, printTablePages } from "./command/print-pages.ts";
import { printFields, printJson, printTable } from "./command/print.ts";
import { CannotDo } from "./command/terminal.ts";
import type { Terminal } from "./command/terminal.ts";

/** At most this many runs are shown. */
const RUNS = 100;

type Thread = ReturnType<typeof channelThreadView>;
type Run = ReturnType<typeof runView>;
type Summary = ReturnType<typeof viewOfSummary>;
type Item = Omit<HistoryItem, "attachments"> & { attachments?: Attachment[] };

/** A line of an export of a thread. */
type Exported =
  | ({ type: "thread" } & Pick<Thread, "id" | "threadId" | "createdAt" | "state">)
  | ({ type: "message"; thread: string } & HistoryItem)
  | ({ type: "summary"; thread: string } & Summary)
  | ({ type: "run"; thread: string } & Run);

interface ListOptions {
  channel?: string;
  user?: string;
  state?: (typeof THREAD_STATES)[number];
  since?: number;
  until?: number;
}

const ONE: Pick<Command<{ user?: string }>, "takes" | "options" | "json" | "refused"> = {
  takes: [
    ["<slug>", "the channel"],
    ["<id>", "the id that the list prints; with --user, your own id of the thread"],
  ],
  options: [["--user <user>", "whose thread: external id, or user id"]],
  json: "print JSON",
  refused: unknownThread,
};

/** `chat-agent threads`: conversations, with their steps and runs. */
export const threads: Family = {
  name: "threads",
  does: "list, show and delete conversations",
  commands: [
    command({
      name: "list",
      does: "the threads of a channel, the latest activity first; of one user, oldest first",
      takes: [
        ["[slug]", "the channel"],
        ["[user]", "only this user's: external id, or user id"],
      ],
      options: [
        ["--channel <slug>", "the channel, by name"],
        ["--user <user>", "only this user's, the latest activity first"],
        new Option("--state <state>", "only those in this state").choices(THREAD_STATES),
        ["--since <ms>", "only those active then or later: Unix time in milliseconds", unixMs],
        ["--until <ms>", "only those active then or before: Unix time in milliseconds", unixMs],
      ],
      json: "print a JSON array",
      asks({ api, options, misuse }: Call<ListOptions>, first?: string, only?: string) {
        const { channel = first, user: userId = only, state, since, until } = options;
        if (channel === undefined) return misuse("which channel? Give its slug, or --channel");
        const excess = only === undefined ? undefined : onlyOfChannel(options);
        if (excess !== undefined) return misuse(`${excess} goes with --user USER, not with SLUG USER`);
        return api.pages<Thread>(at`/channels/${channel}/threads`, { userId, state, since, until });
      },
      prints: (pages, call, slug?: string, user?: string) =>
        user === undefined ? printOfChannel(pages, call, slug) : printOfUser(pages, call, user),
    }),
    command({
      ...ONE,
      name: "show",
      does: "one conversation, with its steps and its latest runs",
      async asks({ api, options }, slug, id) {
        const uid = await uidOf(api, slug, { id, user: options.user });
        return conversationOf(api.lines(at`/channels/${slug}/threads/${uid}/export`));
      },
      prints({ thread, summary, messages, runs }, { terminal, options }) {
        if (options.json)
          return printJson(terminal, { ...thread, ...(summary && { summary }), messages, runs });
        printFields(terminal, { ...thread, createdAt: isoTime(thread.createdAt) });
        if (summary) printSummary(terminal, summary);
        for (const message of messages) printMessage(terminal, message);
        terminal.out("\n");
        printRuns(terminal, runs);
      },
    }),
    command({
      ...ONE,
      name: "delete",
      does: "delete one conversation with everything in it, for good",
      async asks({ api, options }, slug, given) {
        const id = await uidOf(api, slug, { id: given, user: options.user });
        await api.delete(at`/channels/${slug}/threads/${id}`);
        return { deleted: { id } };
      },
      prints(done, { terminal, options }) {
        if (options.json) printJson(terminal, done);
        else terminal.out(`Deleted thread ${done.deleted.id}\n`);
      },
    }),
  ],
};

/** The first option that the list of one user, oldest first, would not heed. */
function onlyOfChannel(options: ListOptions): string | undefined {
  const names = ["channel", "user", "state", "since", "until"] as const;
  const given = names.find((name) => options[name] !== undefined);
  return given && `--${given}`;
}

async function printOfUser(
  pages: AsyncIterable<Thread[]>,
  { terminal, options }: Call,
  user: string,
): Promise<void> {
  const all: Thread[] = [];
  for await (const page of pages) all.push(...page);
  all.sort((a, b) => a.createdAt - b.createdAt || (a.threadId < b.threadId ? -1 : 1));
  const found = all.map(({ id, threadId, createdAt, state }) => ({ id, threadId, createdAt, state }));
  if (options.json) return printJson(terminal, found);
  const rows = found.map(({ id, threadId, createdAt, state }) => [id, threadId, isoTime(createdAt), state]);
  printTable(terminal, ["ID", "THREAD", "CREATED", "STATE"], rows, `User ${user} has no threads yet`);
}

async function printOfChannel(
  pages: AsyncIterable<Thread[]>,
  { terminal, options }: Call<ListOptions>,
  slug: string | undefined,
): Promise<void> {
  if (options.json) return printJsonPages(terminal, pages, (thread) => thread);
  await printTablePages(
    terminal,
    ["ID", "THREAD", "USER", "UPDATED", "STATE"],
    pages,
    ({ id, threadId, userId, updatedAt, state }) => [id, threadId, userId, isoTime(updatedAt), state],
    `Channel ${options.channel ?? slug} has no such threads yet`,
  );
}

/** The service's id of a thread; with `user`, `id` may be the caller's own. Throws CannotDo if the user has none of that id. */
async function uidOf(
  api: OperatorApi,
  slug: string,
  { id, user }: { id: string; user: string | undefined },
): Promise<string> {
  if (user === undefined) return id;
  for await (const page of api.pages<Thread>(at`/channels/${slug}/threads`, { userId: user })) {
    const found = page.find((thread) => thread.threadId === id || thread.id === id);
    if (found) return found.id;
  }
  throw new CannotDo(`Cannot find thread ${id}: user ${user} of channel ${slug} has none of that id`);
}

function unknownThread({ message }: Refused, _: unknown, slug: string, id: string): string | undefined {
  if (message !== "Unknown thread") return undefined;
  return `Cannot find thread ${id}: channel ${slug} has none of that id; your own id of it needs --user`;
}

async function conversationOf(lines: AsyncIterable<string>) {
  const [messages, runs]: [Item[], Run[]] = [[], []];
  let thread: ReturnType<typeof threadOf> | null = null;
  let summary: Summary | null = null;
  for await (const text of lines) {
    const line = JSON.parse(text) as Exported;
    if (line.type === "thread") thread = threadOf(line);
    else if (line.type === "message") messages.push(itemOf(line));
    else if (line.type === "summary") summary = summaryOf(line);
    else runs.push(runOf(line));
  }
  if (thread === null) throw new Error("Cannot read the thread: its export is empty");
  return { thread, ...(summary && { summary }), messages, runs: runs.slice(-RUNS) };
}

/** What the model is sent in place of the first messages. */
function printSummary(terminal: Terminal, { messages, madeAt, model, tokens, text = "" }: Summary): void {
  const cost = tokens ? `, ${tokens.input} + ${tokens.output} tokens in all` : "";
  terminal.out(
    `\nSummary of the first ${messages} messages, by ${printable(model)}, ${isoTime(madeAt)}${cost}\n`,
  );
  terminal.out(`${printable(text)}\n`);
}

function threadOf({ type: _, ...thread }: Extract<Exported, { type: "thread" }>) {
  return thread;
}

function summaryOf({ type: _, thread: __, ...summary }: Extract<Exported, { type: "summary" }>): Summary {
  return summary;
}

function runOf({ type: _, thread: __, ...run }: Extract<Exported, { type: "run" }>): Run {
  return run;
}

/** Images without their content. */
function itemOf({ type: _, thread: __, attachments, ...item }: Extract<Exported, { type: "message" }>): Item {
  if (attachments === undefined) return item;
  return {
    ...item,
    attachments: attachments.map(({ url, name }) => {
      const type = declaredType(url);
      return { ...(name === undefined ? {} : { name }), ...(type ? { type, chars: url.length } : { url }) };
    }),
  };
}

function printRuns(terminal: Terminal, runs: readonly Run[]): void {
  printTable(
    terminal,
    ["RUN", "SAID", "OUTCOME", "ENDED WITH", "MOVES"],
    runs.map((run) => [
      run.id,
      isoTime(run.saidAt),
      run.outcome ?? "active",
      run.terminal?.type ?? null,
      run.path.length,
    ]),
    "No run yet",
  );
}

function printMessage(terminal: Terminal, message: Item): void {
  const who = message.author ? `${message.role}, ${printable(message.author.name)}` : message.role;
  terminal.out(`\n${isoTime(message.createdAt)}  ${who}\n`);
  for (const step of message.steps ?? []) {
    terminal.out(`  [${step.phase}] ${printable(step.id)}: ${printable(step.text)}\n`);
  }
  const text = printable(message.content).replaceAll("\n", "\n  ");
  terminal.out(`  ${text}\n`);
  for (const { name, url, type } of message.attachments ?? []) {
    const words = [name, url ?? type].filter((word) => word !== undefined);
    terminal.out(`  [image] ${words.map(printable).join(", ")}\n`);
  }
}

function unixMs(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Unix time in milliseconds");
  return Number(text);
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
