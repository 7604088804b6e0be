import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Terminal } from "../command/terminal.ts";

/** The source of the messages of `chat`, one line each. */
export interface ChatInput {
  /** The next message; null at the end of the input. */
  next(): Promise<string | null>;
  /** Shows a line between a reply and the prompt, or above what is being typed. */
  show(text: string): void;
  /** Ends the input: `next` returns null. */
  close(): void;
}

const PROMPT = "> ";
/** Clears the prompt and the text typed so far; readline writes both again. */
const CLEAR_LINE = "\r\u001b[K";

export function readPipe({ input }: Terminal): ChatInput {
  const lines = createInterface({ input, crlfDelay: Infinity, terminal: false });
  const iterator = lines[Symbol.asyncIterator]();
  let closed = false;
  return {
    async next() {
      const read = await iterator.next();
      return read.done === true || closed ? null : read.value;
    },
    // A pipe's output has nothing but the replies.
    show() {},
    close() {
      closed = true;
      lines.close();
    },
  };
}

/**
 * A person's lines, with the editing and history of node:readline. The prompt waits for the end of the reply: text typed
 * meanwhile appears after it, and a finished line is the next message.
 */
export function readPerson(terminal: Terminal, onInterrupt: () => void): ChatInput {
  let shown = false;
  const screen = new Writable({
    write(chunk: Buffer, _encoding, written) {
      if (shown) terminal.out(chunk.toString());
      written();
    },
  });
  const { columns } = terminal;
  const lines = createInterface({
    input: terminal.input,
    // readline reads the width from its output, if it has one.
    output: columns === undefined ? screen : Object.defineProperty(screen, "columns", { get: columns }),
    terminal: true,
    prompt: PROMPT,
    removeHistoryDuplicates: true,
  });
  const ended: string[] = [];
  let closed = false;
  let wake = () => {};
  lines.on("line", (text) => {
    ended.push(text);
    wake();
  });
  lines.on("close", () => {
    closed = true;
    wake();
  });
  // In raw mode Ctrl-C is a key, not a signal.
  lines.on("SIGINT", onInterrupt);

  const held: string[] = [];

  return {
    async next() {
      for (const text of held.splice(0)) terminal.out(`${text}\n`);
      const early = ended.shift();
      if (early !== undefined) {
        terminal.out(`${PROMPT}${early}\n`);
        return early;
      }
      if (closed) return null;
      shown = true;
      lines.prompt(true);
      await new Promise<void>((resolve) => (wake = resolve));
      shown = false;
      return ended.shift() ?? null;
    },
    show(text) {
      if (!shown) return void held.push(text);
      terminal.out(`${CLEAR_LINE}${text}\n`);
      lines.prompt(true);
    },

    close: () => lines.close(),
  };
}
