import { isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { isLoopback } from "../../config/kinds.ts";
import { messageOf } from "../../errors.ts";
import { parseSlug } from "../channels/field-options.ts";
import { printJson } from "../command/print.ts";
import { CannotDo } from "../command/terminal.ts";
import type { Terminal } from "../command/terminal.ts";
import { QUESTIONS } from "./answers.ts";
import type { Answers, QuestionName } from "./answers.ts";
import { askFor, withUsual } from "./ask.ts";
import { CHANNELS, ENVIRONMENT, filesFor, presentIn, writeFiles } from "./files.ts";

interface InitOptions {
  channel: string;
  origin?: string[];
  url?: string;
  instructions?: string;
  model?: Answers["model"];
  store?: Answers["store"];
  documents?: Answers["documents"];
  messengers?: Answers["messengers"];
  dir: string;
  yes?: boolean;
  force?: boolean;
  json?: boolean;
}

/** `chat-agent init`: the settings for a site of your own, from seven answers. */
export function addInit(program: Command, terminal: Terminal): void {
  program
    .command("init")
    .description(
      `begin with a site of your own: asks seven questions, writes ${CHANNELS} and ${ENVIRONMENT}, and prints the two lines for your pages`,
    )
    .option(
      "--origin <origin…>",
      "of a page with the chat, like https://www.example.com; repeatable",
      allOrigins,
    )
    .option("--url <url>", `where pages reach the service (${QUESTIONS.url.usual})`, parserOf("url"))
    .option("--instructions <text>", "what the assistant is for", parserOf("instructions"))
    .option(
      "--model <model>",
      "openai, demo, or an address that speaks OpenAI's API (openai)",
      parserOf("model"),
    )
    .option("--store <place>", `a folder, or redis://… (${QUESTIONS.store.usual})`, parserOf("store"))
    .option(
      "--documents <places>",
      "what it answers from: addresses, folders and files, with spaces between",
      parserOf("documents"),
    )
    .option(
      "--messengers <types>",
      "where people talk with it, too: telegram, slack, whatsapp, discord, teams, with spaces between",
      parserOf("messengers"),
    )
    .option("--channel <slug>", "the channel's name", parseSlug, "website")
    .option("--dir <folder>", "where the files go", ".")
    .option("--yes", "ask nothing: what is not given is as usual")
    .option("--force", "replace files that are there; their keys end")
    .option("--json", "print JSON")
    .action((options: InitOptions, command: Command) => init(terminal, options, command));
}

async function init(terminal: Terminal, options: InitOptions, command: Command): Promise<void> {
  const folder = resolve(options.dir);
  const present = options.force ? [] : presentIn(folder);
  if (present.length > 0) {
    throw new CannotDo(
      `Cannot begin in ${folder}: ${present.join(" and ")} would be replaced; --dir names another folder, --force replaces what is there`,
    );
  }
  const answers = await answersOf(terminal, options, command);
  const { files, publishableKey } = filesFor(answers, options.channel, folder);
  try {
    await writeFiles(folder, files);
  } catch (error) {
    throw new CannotDo(`Cannot write into ${folder}: ${messageOf(error)}`, { cause: error });
  }
  const start = `node --env-file=${ENVIRONMENT} ${shellWord(pathFrom(folder))} serve`;
  const paste = [
    `<script src="${answers.url}/widget/v1/chat-agent.js" defer></script>`,
    `<chat-agent publishable-key="${publishableKey}"></chat-agent>`,
  ];
  if (options.json) {
    const written = files.map(({ name }) => join(folder, name));
    return printJson(terminal, { channel: options.channel, publishableKey, files: written, start, paste });
  }
  terminal.out(nextSteps({ answers, slug: options.channel, folder, start, paste }));
}

async function answersOf(terminal: Terminal, options: InitOptions, command: Command): Promise<Answers> {
  const { origin, url, instructions, model, store, documents, messengers } = options;
  const given: Partial<Answers> = {
    ...(origin === undefined ? {} : { origins: origin }),
    ...(url === undefined ? {} : { url }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
    ...(store === undefined ? {} : { store }),
    ...(documents === undefined ? {} : { documents }),
    ...(messengers === undefined ? {} : { messengers }),
  };
  const mayAsk = terminal.interactive && terminal.input.isTTY === true && !options.yes && !options.json;
  if (mayAsk) return askFor(terminal, given);
  const answers = withUsual(given);
  if (answers !== null) return answers;
  return command.error(
    "error: without a terminal to ask at, it takes --origin, like --origin https://www.example.com; --help tells the others",
  );
}

function nextSteps(told: {
  answers: Answers;
  slug: string;
  folder: string;
  start: string;
  paste: readonly string[];
}): string {
  const { answers, slug, folder, start, paste } = told;
  const { origins, model, url } = answers;
  const steps = [
    ...(model.type === "openai"
      ? [`Put the key of your OpenAI account into ${ENVIRONMENT}, as OPENAI_API_KEY.`]
      : []),
    ...(model.type === "compatible" ? [`Put the model's name into ${ENVIRONMENT}, as OPENAI_MODEL.`] : []),
    `Start the service:\n\n     ${folder === process.cwd() ? "" : `cd ${shellWord(folder)} && `}${start}`,
    `Paste these two lines into your pages:\n\n     ${paste.join("\n     ")}`,
  ];
  const later = isLoopback(new URL(url).hostname)
    ? [`When the service has an address of its own, that takes the place of ${url}.`]
    : [];
  return [
    "",
    `${CHANNELS}  the channel ${slug}, for ${origins.join(" ")}`,
    `${ENVIRONMENT.padEnd(CHANNELS.length)}  its keys and the settings; keep it out of your repository`,
    "",
    ...steps.map((step, index) => `  ${index + 1}. ${step}\n`),
    ...later,
    "src/cli/README.md tells all settings, src/widget/README.md all that the element can do.",
    "",
  ].join("\n");
}

/** A question's parser in the form that commander calls. */
function parserOf<Name extends QuestionName>(name: Name): (text: string) => Answers[Name] {
  return (text) => {
    try {
      return QUESTIONS[name].parse(text.trim());
    } catch (error) {
      throw new InvalidArgumentError(messageOf(error));
    }
  };
}

function allOrigins(text: string, before: readonly string[] = []): string[] {
  return [...new Set([...before, ...parserOf("origins")(text)])];
}

/** The path of the built command, relative to the folder that it is started in. */
function pathFrom(folder: string): string {
  const isSource = import.meta.url.endsWith(".ts");
  const built = isSource ? "../../../dist/src/cli/chat-agent.js" : "../chat-agent.js";
  const path = fileURLToPath(new URL(built, import.meta.url));
  const near = relative(folder, path);
  return near.startsWith("..") || isAbsolute(near) ? path : near;
}

function shellWord(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
