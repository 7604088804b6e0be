import type { TerminalLine } from "../../../machines/line.ts";
import type { Message, RunRecord, Speaker, UserMessage } from "../../domain/message.ts";
import { LockedRecord } from "../../store.ts";
import { isObject } from "../checks.ts";

/**
 * Which part of each record is its content. The rest stays readable: ids, times, states, user ids, names of tools and
 * of people who answer, the model's name, lengths of texts.
 */
const NOBODY: Speaker = { displayName: null, page: null, customerContext: null };

/** A record without its content, and that content as JSON. */
export interface Parted<Record> {
  bare: Record;
  content: string;
}

export function partMessage(message: Message): Parted<Message> {
  const { content, steps, attachments, calls, turns, handedBack, error, ...bare } = message;
  return {
    bare: { ...bare, content: "", chars: content.length },
    content: JSON.stringify({ content, steps, attachments, calls, turns, handedBack, error }),
  };
}

export function partUserMessage(message: UserMessage): Parted<UserMessage> {
  const { text, speaker, attachments, ...bare } = message;
  return {
    bare: { ...bare, text: "", speaker: NOBODY },
    content: JSON.stringify({ text, speaker, attachments }),
  };
}

export function partRun(run: RunRecord): Parted<RunRecord> {
  const { speaker, turns, lines, ...bare } = run;
  return {
    bare: { ...bare, speaker: NOBODY, turns: [], lines: [] },
    content: JSON.stringify({ speaker, turns, lines }),
  };
}

/** Null: there is nothing to encrypt in it. */
export function partTerminal(terminal: TerminalLine): Parted<TerminalLine> | null {
  switch (terminal.type) {
    case "tool_call":
      return {
        bare: { ...terminal, arguments: {} },
        content: JSON.stringify({ arguments: terminal.arguments }),
      };
    case "error": {
      const { message, hint, ...bare } = terminal;
      return { bare: { ...bare, message: "" }, content: JSON.stringify({ message, hint }) };
    }
    case "done":
      return null;
  }
}

/** Puts a record's content back. The cipher's tag proves that `part…` wrote it. */
export function joined<Record extends object>(bare: Record, content: string, kind: string): Record {
  const fields: unknown = JSON.parse(content);
  if (!isObject(fields)) throw new LockedRecord(kind, "rest", "its content is no record");
  return Object.assign(bare, fields);
}
