import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Terminal } from "./terminal.ts";

/** Where the messages of `chat` come from, one line each. */
export interface ChatInput {
  /** The next message; null: there is none any more. */
  next(): Promise<string | null>;
  /** Shows a line between a reply and the prompt, or above what is being typed. */
  show(text: string): void;
  /** Ends it: `next` returns null. */
  close(): void;
}

const PROMPT = "> ";
/** The prompt, and what is typed behind it, which readline writes again. */
const CLEAR_LINE = "\r\u001b[K";

/** A pipe's lines, one after the other. */
export function readPipe({ input }: Terminal): ChatInput {
  const lines = createInterface({ input, crlfDelay: Infinity, terminal: false });
  const iterator = lines[Symbol.asyncIterator]();
  let closed = false;
  return {
    async next() {
      const read = await iterator.next();
      return read.done === true || closed ? null : read.value;
    },
    // Its output is the replies alone.
    show() {},
    close() {
      closed = true;
      lines.close();
    },
  };
}

/**
 * A person's lines, with the editing and history of node:readline. The prompt waits for the reply to end: what is typed
 * meanwhile shows after it, and a line that was ended is the next message.
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
    // readline asks its output for a width, where it has one.
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
  // In raw mode Ctrl-C is a key, and no signal.
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
