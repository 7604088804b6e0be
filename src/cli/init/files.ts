import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { isAbsolute, join, relative, resolve } from "node:path";
import { isLoopback } from "../../config/kinds.ts";
import type { KnowledgeSource } from "../../domain/channels/knowledge.ts";
import { MESSENGER_SETTINGS } from "../../domain/channels/messenger.ts";
import type { MessengerType } from "../../domain/channels/messenger.ts";
import { closedUrl } from "../../domain/public-address.ts";
import { newChannelKeys, newKey } from "../../keys.ts";
import type { Answers } from "./answers.ts";

/** The files that `init` writes: CHANNELS_FILE, and the environment of a start. */
export const CHANNELS = "channels.json";
export const ENVIRONMENT = ".env";

export interface WrittenFile {
  name: string;
  text: string;
  /** 0o600 for a file with secrets. */
  mode: number;
}

/** Both files for these answers, in this folder, with new keys, and the publishable key for the pages. */
export function filesFor(
  answers: Answers,
  slug: string,
  folder: string,
): { files: WrittenFile[]; publishableKey: string } {
  const { publishableKey, secretKey } = newChannelKeys();
  const variable = `${slug.toUpperCase().replaceAll("-", "_")}_SECRET_KEY`;
  // A variable's name must not begin with a digit.
  const secretName = /^\d/.test(variable) ? `_${variable}` : variable;
  const channel = {
    slug,
    kind: "web",
    publishableKey,
    secretKey: `$${secretName}`,
    allowedOrigins: answers.origins,
    agent: { instructions: answers.instructions },
    ...(answers.documents.length === 0
      ? {}
      : { knowledge: { sources: answers.documents.map((source) => besideFile(source, folder)) } }),
  };
  const { instructions } = answers;
  /** Named after its platform. */
  const messengerChannel = (type: MessengerType) => ({
    slug: type,
    kind: "transport",
    agent: { instructions },
    messenger: {
      type,
      settings: Object.fromEntries(
        MESSENGER_SETTINGS[type].required.map((name) => [name, `$${settingName(type, name)}`]),
      ),
    },
  });
  const secrets = { [secretName]: secretKey.reveal(), HARNESS_API_KEY: newKey("tk_") };
  return {
    publishableKey,
    files: [
      {
        name: CHANNELS,
        text: `${JSON.stringify({ channels: [channel, ...answers.messengers.map(messengerChannel)] }, null, 2)}\n`,
        mode: 0o644,
      },
      { name: ENVIRONMENT, text: environmentText(answers, secrets), mode: 0o600 },
    ],
  };
}

/** The names of the files that the folder already has. */
export function presentIn(folder: string): string[] {
  return [CHANNELS, ENVIRONMENT].filter((name) => existsSync(join(folder, name)));
}

/** Writes all files, or none if one cannot be written: each is first written under a temporary name. */
export async function writeFiles(folder: string, files: readonly WrittenFile[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const beside = files.map(({ name }) => join(folder, `${name}.${randomUUID()}`));
  try {
    for (const [index, { text, mode }] of files.entries()) {
      await writeFile(beside[index] ?? "", text, { mode, flag: "wx" });
    }
    for (const [index, { name }] of files.entries()) await rename(beside[index] ?? "", join(folder, name));
  } catch (error) {
    for (const path of beside) await rm(path, { force: true });
    throw error;
  }
}

/** Paths in CHANNELS_FILE are relative to it. */
function besideFile({ folder: read, file, ...source }: KnowledgeSource, folder: string): KnowledgeSource {
  const near = (path: string) => {
    const from = relative(folder, resolve(path)).replaceAll("\\", "/");
    return from.startsWith("..") || isAbsolute(from) ? resolve(path) : `./${from}`;
  };
  return {
    ...source,
    ...(read === undefined ? {} : { folder: near(read) }),
    ...(file === undefined ? {} : { file: near(file) }),
  };
}

/** Pages of this machine, or of the owner's network. */
function arePrivate(documents: readonly KnowledgeSource[]): boolean {
  const urls = documents.flatMap(({ url = "", sitemap = url }) => (sitemap === "" ? [] : [{ url: sitemap }]));
  return closedUrl(urls) !== null || urls.some(({ url }) => isLoopback(new URL(url).hostname));
}

function environmentText(
  { url, model, store, documents, messengers }: Answers,
  secrets: Record<string, string>,
): string {
  return `${[
    "# The settings of the chat agent service: src/cli/README.md tells them all. This file has secrets: keep it to yourself.",
    `CHANNELS_FILE=./${CHANNELS}`,
    ...portLines(url),
    "",
    "# Backends, bots and commands show the first key, your site's backend the second.",
    setting("HARNESS_API_KEY", secrets["HARNESS_API_KEY"] ?? ""),
    ...Object.entries(secrets)
      .filter(([name]) => name !== "HARNESS_API_KEY")
      .map(([name, value]) => setting(name, value)),
    "",
    ...modelLines(model),
    "",
    "# Where conversations are kept.",
    store.type === "redis" ? setting("REDIS_URL", store.url) : setting("DATA_DIR", store.dataDir),
    ...(arePrivate(documents)
      ? ["", "# Its documents are at an address that is not public.", "KNOWLEDGE_PRIVATE=on"]
      : []),
    ...messengers.flatMap(messengerLines),
  ].join("\n")}\n`;
}

/** A service on this machine listens on the port of its address; any other address is a proxy's. */
function portLines(url: string): string[] {
  const { hostname, port, pathname, protocol } = new URL(url);
  if (protocol === "http:" && pathname === "/" && isLoopback(hostname)) {
    const isUsual = hostname === "localhost" || hostname === "127.0.0.1";
    return [
      ...(isUsual ? [] : [`HOST=${hostname.replace(/[[\]]/g, "")}`]),
      `PORT=${port === "" ? 80 : port}`,
    ];
  }
  return [
    "",
    `# ${url} is a proxy's address, which leads to this one (src/deploy/README.md).`,
    "HOST=127.0.0.1",
    "PORT=8080",
  ];
}

function modelLines(model: Answers["model"]): string[] {
  const key = "OPENAI_API_KEY=";
  const name = "OPENAI_MODEL=gpt-5-mini";
  if (model.type === "openai")
    return ["# To fill in: the key of your account. While it is empty, nothing starts.", key, name];
  if (model.type === "compatible") {
    const address = setting("OPENAI_BASE_URL", model.baseUrl);
    return [
      "# To fill in: the model's name, and the key if the server asks for one.",
      address,
      key,
      "OPENAI_MODEL=",
    ];
  }
  return [
    "# The offline demo model answers. For a real one remove the first line, and give it a key.",
    "MODEL=demo",
    `# ${key}`,
    `# ${name}`,
  ];
}

/** A line that `node --env-file` and a shell read alike. */
function setting(name: string, value: string): string {
  if (/^[\w./:@%,+=~?&-]*$/.test(value) && !value.includes("&")) return `${name}=${value}`;
  return value.includes("'") ? `${name}="${value}"` : `${name}='${value}'`;
}

/** Secrets that the owner would have to invent. */
const MADE_SETTINGS: ReadonlySet<string> = new Set(["secretToken", "verifyToken"]);

function messengerLines(type: MessengerType): string[] {
  return [
    "",
    `# To fill in: the account at the platform (src/messengers/${type}.md), after npm install @chat-adapter/${type}.`,
    ...MESSENGER_SETTINGS[type].required.map(
      (name) =>
        `${settingName(type, name)}=${MADE_SETTINGS.has(name) ? randomBytes(24).toString("hex") : ""}`,
    ),
  ];
}

/** TELEGRAM_BOT_TOKEN, of telegram and botToken. */
function settingName(type: MessengerType, name: string): string {
  return `${type}_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase();
}
