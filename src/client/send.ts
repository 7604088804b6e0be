import type { Abortable, Line, Message, Reply, TerminalLine } from "./client.d.ts";
import { readLines } from "./read-lines.ts";
import type { Requests } from "./requests.ts";
import { createToldOnce } from "./core/told-once.ts";
import type { WireLine } from "./core/told-once.ts";

/** Sends a message; reads its reply over as many connections as needed. */
export function sendMessage(requests: Requests, message: Message, { signal }: Abortable = {}): Reply {
  const body = { ...message, clientMessageId: message.clientMessageId ?? crypto.randomUUID() };
  const told = createToldOnce();
  const lines: Line[] = [];
  let waiting: (() => void)[] = [];
  let isOver = false;
  let runId: string | null = null;

  function wake(): void {
    const woken = waiting;
    waiting = [];
    for (const each of woken) each();
  }

  function tell(news: readonly Line[]): void {
    lines.push(...news);
    wake();
  }

  /** null: the connection ended before the reply did. */
  async function connect(onLine: () => void): Promise<TerminalLine | null> {
    const response = await requests.ask("messages", { body, ...(signal ? { signal } : {}) });
    runId = response.headers.get("x-run-id") ?? runId;
    told.begin();
    for await (const line of readLines<WireLine>(response)) {
      if (line.type === "error" && line.code === "interrupted") return null;
      onLine();
      tell(told.newsIn(line));
      if (line.type === "done" || line.type === "error" || line.type === "tool_call") return line;
    }
    return null;
  }

  async function run(): Promise<TerminalLine> {
    let failures = 0;
    for (;;) {
      const before = told.text.length;
      let fault: unknown = new Error("The connection ended before the reply");
      try {
        const end = await connect(() => {
          if (told.text.length > before) failures = 0;
        });
        if (end) return end;
      } catch (error) {
        fault = error;
      }
      failures++;
      await requests.recover(fault, failures, signal);
    }
  }

  const final = run().finally(() => {
    isOver = true;
    wake();
  });
  // A caller that only reads the lines gets the rejection from its loop.
  final.catch(() => {});

  return {
    final,
    get text() {
      return told.text;
    },
    get runId() {
      return runId;
    },
    async *[Symbol.asyncIterator]() {
      for (let at = 0; ;) {
        const line = lines[at];
        if (line) {
          at++;
          yield line;
        } else if (isOver) {
          await final;
          return;
        } else await new Promise<void>((resolve) => void waiting.push(resolve));
      }
    },
  };
}
