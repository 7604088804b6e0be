import type { Line, StepLine, TerminalLine } from "../client.d.ts";

/** A line as the service writes it. */
export type WireLine = Exclude<Line, { type: "restart" }>;

/**
 * A reply over several connections, each of which sends it from its beginning: passes on every text and step once. If a
 * later connection sends other text, it passes on `restart`, then the text from the beginning.
 */
export interface ToldOnce {
  readonly text: string;
  /** A connection begins. */
  begin(): void;
  /** The lines to pass on for a line of the connection. */
  newsIn(line: WireLine): Line[];
}

/** False for a line of a newer version, too. */
export function isEnd(line: WireLine): line is TerminalLine {
  return line.type === "done" || line.type === "error" || line.type === "tool_call";
}

export function createToldOnce(): ToldOnce {
  let told = "";
  /** How much of the text this connection has sent. */
  let position = 0;
  const steps = new Set<string>();

  function textNews(text: string): Line[] {
    const end = position + text.length;
    const known = told.slice(position, end);
    const isSame = text.startsWith(known);
    const before = told.slice(0, position);
    position = end;
    if (!isSame) {
      told = before + text;
      return [{ type: "restart" }, { type: "delta", text: told }];
    }
    told += text.slice(known.length);
    return known.length === text.length ? [] : [{ type: "delta", text: text.slice(known.length) }];
  }

  function stepNews(step: StepLine): Line[] {
    const { id, phase, text } = step;
    const key = JSON.stringify([id, phase, text]);
    if (steps.has(key)) return [];
    steps.add(key);
    return [step];
  }

  function end(line: TerminalLine): Line[] {
    if (position >= told.length) return [line];
    told = told.slice(0, position);
    return [{ type: "restart" }, ...(told === "" ? [] : [{ type: "delta" as const, text: told }]), line];
  }

  return {
    get text() {
      return told;
    },
    begin() {
      position = 0;
    },
    newsIn(line) {
      if (line.type === "delta") return textNews(line.text);
      if (line.type === "step") return stepNews(line);
      return isEnd(line) ? end(line) : [line];
    },
  };
}
