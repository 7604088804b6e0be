import type { Abortable, Line, Message, Reply, TerminalLine } from "./client.d.ts";
import type { Requests } from "./requests.ts";
import { follow, isInterrupted } from "./core/follow.ts";
import { createToldOnce, isEnd } from "./core/told-once.ts";
import type { WireLine } from "./core/told-once.ts";

/** Sends what is answered by a reply; reads that over as many connections as needed. */
export function sendMessage(
  requests: Requests,
  path: string,
  said: Pick<Message, "clientMessageId">,
  { signal }: Abortable = {},
): Reply {
  const body = { ...said, clientMessageId: said.clientMessageId ?? crypto.randomUUID() };
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

  async function run(): Promise<TerminalLine> {
    const { comeBack, reset } = requests.attempts(signal);
    const read = follow({
      async open() {
        const response = await requests.ask(path, { body, ...(signal ? { signal } : {}) });
        runId = response.headers.get("x-run-id") ?? runId;
        told.begin();
        return response.body;
      },
      comeBack,
    });
    for await (const each of read) {
      if (isInterrupted(each)) continue;
      const before = told.text.length;
      // A cast: the service's lines are as the types say; the caller ignores those of an unknown type.
      const line = each as WireLine;
      tell(told.newsIn(line));
      if (told.text.length > before) reset();
      if (isEnd(line)) return line;
    }
    throw new Error("The service answered without a body");
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
