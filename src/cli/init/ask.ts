import { messageOf } from "../../errors.ts";
import { readPerson } from "../chat/chat-input.ts";
import type { ChatInput } from "../chat/chat-input.ts";
import { CannotDo } from "../command/terminal.ts";
import type { Terminal } from "../command/terminal.ts";
import { NAMES, QUESTIONS } from "./answers.ts";
import type { Answers, Question, QuestionName } from "./answers.ts";

/**
 * Asks at the terminal for the answers that were not given, one line each. An empty line takes the default in brackets, and
 * a wrong answer is asked again. Throws CannotDo on Ctrl-C, or if the input ends.
 */
export async function askFor(terminal: Terminal, given: Partial<Answers>): Promise<Answers> {
  const input = readPerson(terminal, () => input.close());
  terminal.out("An empty line takes what stands in brackets. Nothing is written before the last answer.\n");
  try {
    const answers: Partial<Answers> = { ...given };
    for (const name of NAMES) if (!(name in given)) await answer(name);
    return allOf(answers);

    async function answer<Name extends QuestionName>(name: Name): Promise<void> {
      answers[name] = await askUntilRight(terminal, input, QUESTIONS[name]);
    }
  } finally {
    input.close();
  }
}

/** The given answers, and the defaults for the rest; null if one has no default. */
export function withUsual(given: Partial<Answers>): Answers | null {
  const answers: Partial<Answers> = { ...given };
  for (const name of NAMES) fill(name);
  return NAMES.every((name) => name in answers) ? allOf(answers) : null;

  function fill<Name extends QuestionName>(name: Name): void {
    const { usual, parse } = QUESTIONS[name];
    if (!(name in answers) && usual !== null) answers[name] = parse(usual);
  }
}

async function askUntilRight<Answer>(
  terminal: Terminal,
  input: ChatInput,
  { asks, usual, parse }: Question<Answer>,
): Promise<Answer> {
  terminal.out(`\n${asks}${usual === null ? "" : ` [${usual}]`}\n`);
  for (;;) {
    const said = await input.next();
    if (said === null) throw new CannotDo("Cannot go on without an answer: nothing was written");
    const text = said.trim();
    try {
      return parse(text === "" && usual !== null ? usual : text);
    } catch (error) {
      terminal.out(`${messageOf(error)}\n`);
    }
  }
}

function allOf({
  origins,
  url,
  instructions,
  model,
  store,
  documents,
  messengers,
}: Partial<Answers>): Answers {
  if (!origins || !url || instructions === undefined || !model || !store || !documents || !messengers)
    throw new Error("Cannot begin: an answer is missing");
  return { origins, url, instructions, model, store, documents, messengers };
}
