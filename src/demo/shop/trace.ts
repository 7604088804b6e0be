import type { Line } from "../../../machines/line.ts";
import { afterLine, afterPerson, afterSaid } from "../chart-state.ts";
import type { ChartState } from "../chart-state.ts";
import { element } from "./element.ts";

/**
 * The panel that shows the requests and the NDJSON lines as they arrive, and the state of the thread's chart
 * (machines/thread.ts) that they imply. The chart is on the server; a browser knows it only from the lines.
 * The panel survives navigations, as the conversation does.
 */
interface Kept {
  state: ChartState;
  rows: { kind: string; text: string }[];
}

const KEY = "shop:trace";

const MAX_ROWS = 80;

/** `pageTools`: names of the tools that run in the page. */
export function traceChat(agent: HTMLElement, panel: HTMLElement, pageTools: ReadonlySet<string>): void {
  let kept = read();
  const change = (state: ChartState, ...rows: Kept["rows"]) => {
    kept = { state, rows: [...kept.rows, ...rows].slice(-MAX_ROWS) };
    sessionStorage.setItem(KEY, JSON.stringify(kept));
    draw(panel, kept);
  };

  on(agent, "message", (detail) => {
    if (detail["role"] === "user")
      change(afterSaid(kept.state), { kind: "said", text: `POST /messages  ${String(detail["text"])}` });
  });
  // The chart moves when the service has the result; the next line shows it.
  on(agent, "tool-result", (detail) => {
    change(kept.state, { kind: "said", text: `POST /tool-results  ${String(detail["tool"])}` });
  });
  on(agent, "person", ({ waitingSince, name }) => {
    const { state } = kept;
    change(afterPerson(state, { waitingSince, name }), {
      kind: "said",
      text: `GET /events  ${JSON.stringify({ waitingSince, name })}`,
    });
  });
  on(agent, "resumed", () =>
    change(kept.state, { kind: "said", text: "GET /stream  the page changed, the run goes on" }),
  );
  on(agent, "error", ({ status, code, message }) => {
    // An error line was already shown as a line.
    const isShown = kept.rows.at(-1)?.kind === "error" && code !== undefined;
    const row = { kind: "error", text: JSON.stringify({ status, code, message }) };
    change("idle", ...(isShown ? [] : [row]));
  });
  on(agent, "line", ({ line }) => {
    // A cast: the element passes the service's lines on.
    const read = line as Line;
    change(afterLine(kept.state, read, pageTools), { kind: read.type, text: JSON.stringify(line) });
  });
  panel.querySelector("[data-clear]")?.addEventListener("click", () => {
    kept = { ...kept, rows: [] };
    change(kept.state);
  });
  draw(panel, kept);
}

function draw(panel: HTMLElement, { state, rows }: Kept): void {
  for (const node of panel.querySelectorAll<HTMLElement>("[data-state]")) {
    node.classList.toggle("now", node.dataset["state"] === state);
    if (node.dataset["state"] === state) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
  }
  const list = panel.querySelector("[data-lines]");
  list?.replaceChildren(...rows.map(({ kind, text }) => element("li", { class: kind }, text)));
  list?.scrollTo({ top: list.scrollHeight });
}

function on(agent: HTMLElement, name: string, listener: (detail: Record<string, unknown>) => void): void {
  agent.addEventListener(`chat-agent:${name}`, (event) => {
    // A cast: the element's events have objects as details.
    if (event instanceof CustomEvent) listener(event.detail as Record<string, unknown>);
  });
}

function read(): Kept {
  const text = sessionStorage.getItem(KEY);
  // A cast: this script wrote it.
  return text === null ? { state: "idle", rows: [] } : (JSON.parse(text) as Kept);
}
