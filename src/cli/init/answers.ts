import { readConfig } from "../../config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { knowledgeSourceSchema, originFrom } from "../../domain/channels/channel-fields.ts";
import type { KnowledgeSource } from "../../domain/channels/knowledge.ts";
import { MESSENGER_TYPES } from "../../domain/channels/messenger.ts";
import type { MessengerType } from "../../domain/channels/messenger.ts";

/** The answers to the questions of `init`. */
export interface Answers {
  /** Of the site's pages. */
  origins: string[];
  /** Where pages reach the service, without a slash at the end. */
  url: string;
  instructions: string;
  model: { type: "openai" } | { type: "demo" } | { type: "compatible"; baseUrl: string };
  store: { type: "embedded"; dataDir: string } | { type: "redis"; url: string };
  /** What the assistant answers from: paths are as they were written. */
  documents: KnowledgeSource[];
  /** Platforms whose users talk with it, too. */
  messengers: MessengerType[];
}

export interface Question<Answer> {
  asks: string;
  /** The answer that an empty line stands for; null: an answer is required. */
  usual: string | null;
  /** Throws an Error with a message of one line: the answer, and what is allowed. */
  parse: (text: string) => Answer;
}

/** In the order in which they are asked. The parsers of a start read the answers, so a start takes them all. */
export const QUESTIONS: { [Name in keyof Answers]: Question<Answers[Name]> } = {
  origins: {
    asks: "Which pages have the chat? Their origin, like https://www.example.com; several with spaces between",
    usual: null,
    parse(text) {
      const written = text.split(/[\s,]+/).filter((one) => one !== "");
      if (written.length === 0) throw new Error("an origin is needed, like https://www.example.com");
      return [...new Set(written.map(originOf))];
    },
  },
  url: {
    asks: "At which address do these pages reach the service?",
    usual: "http://127.0.0.1:8080",
    parse(text) {
      const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
      if (url === null || url.search !== "" || url.hash !== "" || url.username !== "")
        throw new Error(`${JSON.stringify(text)} is no address: http:// or https://, and a host`);
      return url.href.replace(/\/$/, "");
    },
  },
  instructions: {
    asks: "What is the assistant there for? In a sentence or two, to itself",
    usual: "You help the visitors of this site. Say so when you do not know something.",
    parse: (text) => text,
  },
  model: {
    asks: "Which model answers? openai, the address of another server that speaks OpenAI's API, or demo (offline, to try)",
    usual: "openai",
    parse(text) {
      if (text === "openai" || text === "demo") return { type: text };
      mustBeSetting("OPENAI_BASE_URL", text);
      return { type: "compatible", baseUrl: text };
    },
  },
  store: {
    asks: "Where are conversations kept? A folder of this machine, or the redis:// address of a Redis",
    usual: "./data",
    parse(text) {
      // Inside quotes, a shell and node --env-file read these differently.
      if (/["$`\\]/.test(text)) throw new Error('a folder or an address without any of " $ ` \\ is needed');
      if (!/^rediss?:/i.test(text)) return { type: "embedded", dataDir: text };
      mustBeSetting("REDIS_URL", text);
      return { type: "redis", url: text };
    },
  },
  documents: {
    asks: "Which documents does it answer from? Addresses of help pages or sitemaps, folders, files; several with spaces between",
    usual: "none",
    parse(text) {
      const written = text.split(/\s+/).filter((one) => one !== "" && one !== "none");
      const names = new Set<string>();
      return written.map((place) => {
        const source = sourceAt(place);
        const name = nameOf(place, names);
        names.add(name);
        const parsed = knowledgeSourceSchema.safeParse({ name, ...source });
        if (!parsed.success) throw new Error(`${JSON.stringify(place)}: ${parsed.error.issues[0]?.message}`);
        return parsed.data;
      });
    },
  },
  messengers: {
    asks: `On which messengers do people talk with it, too? ${MESSENGER_TYPES.join(", ")}; several with spaces between`,
    usual: "none",
    parse(text) {
      const written = text.split(/[\s,]+/).filter((one) => one !== "" && one !== "none");
      const unknown = written.find((one) => !MESSENGER_TYPES.some((type) => type === one));
      if (unknown !== undefined)
        throw new Error(`${JSON.stringify(unknown)} is none of ${MESSENGER_TYPES.join(", ")}`);
      return MESSENGER_TYPES.filter((type) => written.includes(type));
    },
  },
};

export type QuestionName = keyof Answers;
// A cast: TypeScript types an object's keys as strings.
export const NAMES = Object.keys(QUESTIONS) as QuestionName[];

/** An address is a sitemap by its ending; a path is a file if it has one of a document. */
function sourceAt(place: string): Omit<KnowledgeSource, "name"> {
  if (/^[a-z]+:\/\//i.test(place)) {
    const isSitemap = URL.canParse(place) && new URL(place).pathname.endsWith(".xml");
    return isSitemap ? { sitemap: place } : { url: place };
  }
  return /\.(md|markdown|txt|html?|pdf|docx)$/i.test(place) ? { file: place } : { folder: place };
}

/** The host, or the last part of a path; each once. */
function nameOf(place: string, taken: ReadonlySet<string>): string {
  const host = URL.canParse(place) ? new URL(place).hostname : "";
  const last =
    place
      .split(/[\\/]/)
      .filter((part) => part !== "" && part !== ".")
      .at(-1) ?? "";
  const plain = (host || last).replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, 60) || "documents";
  return freeName(plain, (name) => taken.has(name));
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  for (let nth = 1; ; nth += 1) {
    const free = nth === 1 ? name : `${name}-${nth}`;
    if (!isTaken(free)) return free;
  }
}

function originOf(text: string): string {
  const origin = originFrom(text);
  if (origin === null)
    throw new Error(`${JSON.stringify(text)} is no origin: scheme://host[:port], without a path`);
  return origin;
}

function mustBeSetting(name: string, value: string): void {
  try {
    readConfig({ [name]: value });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Error(error.message.replace("Cannot read the configuration: ", ""), { cause: error });
  }
}
