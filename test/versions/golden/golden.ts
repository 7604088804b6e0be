import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readJson, readLines } from "../fleet/readable.ts";

/** What is beside the records of one version on one store: who said what, and how it must go on. */
export interface Facts {
  note: string;
  version: string;
  commit: string;
  /** When the last process was killed, Unix ms: absolute times in the records are to be seen from here. */
  takenAtMs: number;
  /** What is said in every conversation once more. */
  next: string;
  origin: string;
  transportKey: string;
  channels: Record<string, { publishableKey: string; secretKey: string }>;
  tokens: TokenFact[];
  threads: ThreadFact[];
  /** Keys of operators, by name; absent where the version has none. */
  operators?: Record<string, string>;
}

export interface TokenFact {
  /** What it shows. */
  name: string;
  slug: string;
  token: string;
  /** The account that it is bound to; null: none. */
  account: string | null;
  /** `refused`: valid, and its user may not talk. */
  state: "valid" | "expired" | "refused";
}

/** A conversation, where it stands, and how it must go on. */
export interface ThreadFact {
  /** What it shows. */
  name: string;
  slug: string;
  /** As its speaker calls it. */
  threadId: string;
  /** The command line's id. */
  uid: string;
  /** Who speaks in it: by the server API, or with one of the tokens. */
  speaker: { userId: string } | { token: string };
  state: "idle" | "running" | "awaiting" | "waiting_for_person" | "with_person";
  /** The changes of who answers so far; absent where nobody ever asked for a person. */
  epoch?: number;
  /** The operator who has the thread. */
  with?: string;
  /** Of the pending page call. */
  callId?: string;
  /** The call that waits for approval, and gets it. */
  approves?: string;
  /** A file of its messages. */
  file?: { id: string; text: string };
  /** The page call that was answered last: the same answer again re-attaches. */
  answered?: { callId: string; tool: string };
  /** What the page answers, call by call, the pending one first. Absent: the call is left to expire. */
  answers?: { tool: string; result: string }[];
  /**
   * What comes into the history before `next` is said, oldest first, where the model echoes (echoing-model.ts). `…` stands
   * for any text.
   */
  follows?: string[];
  /** The reply to `next`; absent: the echo. */
  reply?: string;
  /** The status with which its speaker is refused. */
  refusal?: 403;
  /** What the model must be told of the speaker when the run goes on. */
  told?: string[];
  /** How often the shop's tools are called for an article when the run goes on. */
  calls?: Record<string, number>;
}

/** What the command line of the version itself shows: a command without its --json, and what that prints. */
export interface Shown {
  command: [group: string, command: string, ...ids: string[]];
  printed: unknown;
}

/** `threads show` */
export interface ShownConversation {
  messages: { id: string; role: string; content: string; error?: { message: string }; otherBranch?: true }[];
  runs: { terminal: unknown }[];
}

/** One version's records on one store. */
export interface Golden {
  version: string;
  store: "embedded" | "redis";
  folder: string;
  facts: Facts;
  shown: Shown[];
}

export const STORES = ["embedded", "redis"] as const;

/** Where records are: a folder for each version, and in it one for each store. */
export function goldenFolder(version: string, store: Golden["store"]): string {
  return join(fileURLToPath(new URL("..", import.meta.url)), version, store);
}

/** A version's store, as `store backup` wrote it. */
export function backupOf(version: string, store: Golden["store"]): string {
  return fileURLToPath(new URL(`../backups/${version}-${store}.gz`, import.meta.url));
}

/** Of every released version, oldest first. */
export function readGoldens(): Golden[] {
  const versions = readdirSync(fileURLToPath(new URL("..", import.meta.url))).filter((name) =>
    /^\d+\.\d+\.\d+$/.test(name),
  );
  return versions
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .flatMap((version) => STORES.map((store) => readGolden(version, store)));
}

export function readGolden(version: string, store: Golden["store"]): Golden {
  const folder = goldenFolder(version, store);
  const facts = readJson<Facts>(join(folder, "facts.json"));
  return { version, store, folder, facts, shown: readLines<Shown>(join(folder, "shown.jsonl")) };
}

/** What the version itself showed of a conversation. */
export function shownConversation({ shown }: Golden, { slug, uid }: ThreadFact): ShownConversation {
  const asked = ["threads", "show", slug, uid].join();
  const found = shown.find(({ command }) => command.join() === asked);
  return found?.printed as ShownConversation;
}

/** The arguments of a command of Shown: ids may begin with a hyphen. */
export function argumentsOf([group, command, ...ids]: Shown["command"]): string[] {
  return [group, command, "--json", "--", ...ids];
}
