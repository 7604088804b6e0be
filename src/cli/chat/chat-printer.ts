import type { Line } from "../../../machines/line.ts";
import { printable } from "../../client/core/printable.ts";
import type { Terminal } from "../command/terminal.ts";
import { wrapWords } from "./wrap-words.ts";

/** On a narrower terminal, its own line breaks read no worse than ours. */
const NARROWEST = 20;

/** Text to stdout as it arrives; steps and errors to stderr, so that a pipe carries nothing but the reply. */
export function createLinePrinter(terminal: Terminal) {
  const wrapper =
    terminal.interactive && terminal.columns !== undefined
      ? wrapWords(() => Math.max(NARROWEST, terminal.columns?.() ?? NARROWEST))
      : null;
  let open = false;
  const show = (text: string) => {
    if (text === "") return;
    terminal.out(text);
    open = !text.endsWith("\n");
  };
  const newLine = () => {
    show(wrapper?.end() ?? "");
    if (open) wrapper?.add("\n");
    if (open) terminal.out("\n");
    open = false;
  };
  const note = (text: string) => {
    newLine();
    terminal.err(terminal.interactive ? `\u001b[2m${printable(text)}\u001b[22m\n` : `${printable(text)}\n`);
  };
  return {
    note,
    end: newLine,
    line(line: Line) {
      // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- a terminal does not show every line
      switch (line.type) {
        case "delta": {
          const text = terminal.interactive ? printable(line.text) : line.text;
          return show(wrapper === null ? text : wrapper.add(text));
        }
        case "step":
          return note(stepText(line));
        case "tool_call":
          return note(`The agent asks a browser for ${line.tool}, and there is none here.`);
        case "error":
          if (line.code === "interrupted") {
            return note("The service is restarting. The run goes on, and its reply will be in the thread.");
          }
          return note(`${line.message}${line.hint === undefined ? "" : ` (${line.hint})`}`);
      }
    },
  };
}

/** A step's text ("One moment: …") fits only while the step runs. */
function stepText({ phase, id, text }: Extract<Line, { type: "step" }>): string {
  return phase === "running" ? `[running] ${id}: ${text}` : `[${phase}] ${id}`;
}
