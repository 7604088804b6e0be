import { element } from "./element.ts";

/**
 * The panel that looks under the hood: the NDJSON lines as they come, and the state of the thread's chart as they move
 * it. It outlives navigations as the conversation does.
 */
type State = "idle" | "thinking" | "usingServerTool" | "awaitingPageTool";

interface Kept {
  state: State;
  rows: { kind: string; text: string }[];
}

const MAX_ROWS = 80;

export function traceChat(agent: HTMLElement, panel: HTMLElement): void {
  let kept = read();
  const change = (state: State, ...rows: Kept["rows"]) => {
    kept = { state, rows: [...kept.rows, ...rows].slice(-MAX_ROWS) };
    sessionStorage.setItem("shop:trace", JSON.stringify(kept));
    draw(panel, kept);
  };

  on(agent, "message", (detail) => {
    if (detail["role"] === "user")
      change("thinking", { kind: "said", text: `POST /messages  ${String(detail["text"])}` });
  });
  on(agent, "tool-result", (detail) => {
    change("thinking", { kind: "said", text: `POST /tool-results  ${String(detail["tool"])}` });
  });
  on(agent, "resumed", () =>
    change(kept.state, { kind: "said", text: "GET /stream  the page changed, the run goes on" }),
  );
  on(agent, "error", ({ status, code, message }) => {
    // An error line has been shown as a line.
    if (code === undefined) change("idle", { kind: "error", text: JSON.stringify({ status, message }) });
  });
  on(agent, "line", ({ line }) => {
    const read = line as { type: string; phase?: string };
    change(stateAfter(read, kept.state), { kind: read.type, text: JSON.stringify(line) });
  });
  panel.querySelector("[data-clear]")?.addEventListener("click", () => {
    kept = { ...kept, rows: [] };
    change(kept.state);
  });
  draw(panel, kept);
}

/** The states of machines/thread.ts, as its lines tell them. */
function stateAfter(line: { type: string; phase?: string }, before: State): State {
  switch (line.type) {
    case "step":
      return line.phase === "running" ? "usingServerTool" : "thinking";
    case "tool_call":
      return "awaitingPageTool";
    case "done":
    case "error":
      return "idle";
    default:
      return before === "usingServerTool" ? before : "thinking";
  }
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
    if (event instanceof CustomEvent) listener(event.detail as Record<string, unknown>);
  });
}

function read(): Kept {
  const text = sessionStorage.getItem("shop:trace");
  return text === null ? { state: "idle", rows: [] } : (JSON.parse(text) as Kept);
}
