import { OPTIONS, wrongUse } from "./rig/options.ts";
import type { Options } from "./rig/options.ts";

type Option = Exclude<keyof typeof OPTIONS, "help" | "write">;

interface Question {
  /** The question in one sentence; README.md has it with the results. */
  asks: string;
  takes: Option[];
  /** Runs only if it is named: it takes long, or compares things that most people do not have. */
  isNamedAlone?: true;
}

/** Every question that `npm run bench` answers, in this order; each is a file of that name in this folder. */
export const QUESTIONS: Record<string, Question> = {
  transitions: {
    asks: "What does an event cost in the charts, and a delta on its way to its reader?",
    takes: [],
  },
  stores: { asks: "What do admit, load, commit and history cost, on each store?", takes: [] },
  messages: { asks: "What does a message cost, beside the floor?", takes: ["listener", "cell"] },
  streams: { asks: "What does an open stream cost?", takes: ["listener"] },
  feeds: { asks: "What does an open feed cost?", takes: ["listener"] },
  growth: {
    asks: "What grows with a long thread, with many threads, with a merge?",
    takes: ["listener", "threads"],
  },
  "whole-store": {
    asks: "What do the commands on a whole store cost?",
    takes: ["threads", "store"],
    isNamedAlone: true,
  },
  retention: {
    asks: "Do callers notice that threads are past their date?",
    takes: ["threads"],
    isNamedAlone: true,
  },
  lists: {
    asks: "How long does an operator wait for a page of a long list?",
    takes: ["threads"],
    isNamedAlone: true,
  },
  webhooks: {
    asks: "What do webhooks cost, with ten receivers of which one hangs and one fails?",
    takes: ["listener", "seconds", "repeats"],
    isNamedAlone: true,
  },
  "content-keys": {
    asks: "What does encryption of contents at rest cost a message?",
    takes: ["listener"],
    isNamedAlone: true,
  },
  beside: {
    asks: "Is a message dearer than in another version, or with another setting?",
    takes: ["listener", "store", "checkout", "set", "cell", "repeats", "most"],
    isNamedAlone: true,
  },
};

const EXPLAINED: Record<Option, string> = {
  listener: "uws or node; without it uws where uWebSockets.js loads",
  cell: 'only the cells whose name has this text, such as "burst, 64 users"',
  threads: "how many threads the store is filled with",
  seconds: "how long webhooks are told",
  repeats: "how often each is measured",
  most: "exit with 1 if a message takes more than so many times the CPU of the other's, such as 1.03",
  checkout: "a folder with another version, in which npm ci && npm run build was called",
  set: "NAME=VALUE, a setting of the other service; can be given again",
  store: "redis or embedded; without it both",
};

/** The questions that these options select. Throws if one does not exist, or an option belongs to none of them. */
export function askedBy({ names, given }: Pick<Options, "names" | "given">): string[] {
  const everyday = Object.keys(QUESTIONS).filter((name) => !QUESTIONS[name]?.isNamedAlone);
  const asked = names.length > 0 ? names : everyday;
  for (const name of asked) {
    if (!Object.hasOwn(QUESTIONS, name)) throw wrongUse(`Cannot answer ${name}: no question has this name`);
  }
  for (const { option } of given) {
    if (option === "help" || option === "write") continue;
    if (asked.some((name) => takes(name, option))) continue;
    const who = Object.keys(QUESTIONS).filter((name) => takes(name, option));
    throw wrongUse(`Cannot take --${option}: it is for ${who.join(", ")}`);
  }
  return asked;
}

/** Does the question of this name take this option? */
export function takes(name: string, option: string): boolean {
  return QUESTIONS[name]?.takes.some((taken) => taken === option) ?? false;
}

/** What `--help` prints. */
export function help(): string {
  const rows = Object.entries(QUESTIONS);
  const everyday = rows.filter(([, { isNamedAlone }]) => !isNamedAlone);
  const named = rows.filter(([, { isNamedAlone }]) => isNamedAlone);
  const questions = (some: typeof rows) =>
    some.map(([name, { asks }]) => `  ${name.padEnd(14)}${asks}\n`).join("");
  const options = Object.entries(EXPLAINED).map(([option, what]) => {
    const who = rows.filter(([name]) => takes(name, option)).map(([name]) => name);
    return `  --${option.padEnd(12)}${what}\n${" ".repeat(16)}(${who.join(", ")})\n`;
  });
  return `npm run bench -- [question ...] [option ...]

Without a name, these are asked, in some twelve minutes:
${questions(everyday)}
Asked by their name alone:
${questions(named)}
Options, and the questions that take them:
${options.join("")}
  --write       put what was measured into bench/README.md, and its plots beside it
  --help        this text
`;
}
