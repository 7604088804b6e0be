// For src/http/as-fast-as-read.ts, src/http/reads.ts, src/listeners/unread.ts
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isTerminal } from "../../machines/line.ts";
import { unreadBytes } from "../../src/listeners/unread.ts";
import { textOf } from "../../src/domain/threads/fold-steps.ts";
import type { ProgressLine } from "../../machines/line.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { ORIGIN } from "../http/service.ts";
import { sampleCommit, sampleMessage, sampleRun } from "../stores/samples.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import { openWhole } from "./clients/open-whole.ts";

const REPLIES = 2;
const PARTS = 128;
const PART_CHARS = 65_536;
const READERS = 40;
/** Of the eight megabytes that each of them asks for. */
const MOST_UNREAD_BYTES = 300_000;
const MOST_HELD_BYTES = 1_000_000;

/** After a collection of garbage: strings and buffers. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A thread whose last runs have each said eight million characters, as the service itself keeps them. */
async function writeLongReplies(store: Store, uid: string): Promise<string[]> {
  const fence = `${store.processId}:a`;
  const texts: string[] = [];
  for (let nth = 0; nth < REPLIES; nth++) {
    const runId = `r${nth}`;
    const parts = Array.from({ length: PARTS }, (_, at) => `${nth}.${at} 👋 `.padEnd(PART_CHARS, "x"));
    const kept = { parts: PARTS, chars: PARTS * PART_CHARS };
    const run = sampleRun(runId, {
      lines: [{ type: "delta", text: "The end", kept: kept.chars }],
      kept,
      outcome: "done",
      terminal: { type: "done", elapsedMs: 1 },
    });
    const said = { uid, slug: "shop", fence, run };
    const claim = { claims: nth === 0, rev: nth, holds: true };
    await store.commit(sampleCommit({ ...said, ...claim, opId: `begin ${nth}`, rev: 2 * nth, messages: [] }));
    // One after another, as a model writes them: the store's deadline is for one.
    for (const [at, text] of parts.entries()) await store.keepPart({ uid, fence, runId, nth: at, text });
    const reply = { role: "assistant" as const, content: "The end", kept, runId };
    const isLast = nth === REPLIES - 1;
    await store.commit(
      sampleCommit({
        ...said,
        ...claim,
        claims: false,
        opId: `end ${nth}`,
        rev: 2 * nth + 1,
        holds: !isLast,
        state: isLast ? "idle" : "running",
        messages: [sampleMessage(nth + 1, reply)],
      }),
    );
    texts.push(`${parts.join("")}The end`);
  }
  return texts;
}

/** Asks, and reads no more than the answer's first bytes. */
function askAndStall(port: number, path: string, token: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.once("error", reject);
    socket.once("data", () => {
      socket.pause();
      resolve(socket);
    });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\norigin: ${ORIGIN}\r\nx-visitor-token: ${token}\r\n\r\n`);
  });
}

/** What long replies can be read by. */
const WAYS = ["messages?limit=100", "stream", "stream?run=r0"];

let store: Store;
let token: string;
let threadId: string;
let texts: string[];

beforeAll(async () => {
  store = await openEmbeddedStore({ dataDir: emptyFolder(), clock: systemClock });
  const whole = await openWhole({ store });
  token = await whole.newToken();
  threadId = await whole.newThread(token);
  // First: a service would take the thread for lost.
  await whole.close();
  texts = await writeLongReplies(store, threadId);
});
afterAll(() => store.close());

describeEachListener("readers of long replies", (listener) => {
  test("P17: 40 who ask and do not read cost little memory, and who reads meanwhile gets all", async () => {
    const whole = await openWhole({ listener, store });
    onTestFinished(() => whole.close());
    const port = Number(new URL(whole.url).port);
    const before = heldBytes();
    const stalled = Array.from({ length: READERS }, (_, nth) =>
      askAndStall(port, `/v1/widget/threads/${threadId}/${WAYS[nth % WAYS.length]}`, token),
    );
    await Promise.all(stalled);
    expect(unreadBytes()).toBeLessThan(READERS * MOST_UNREAD_BYTES);
    expect(heldBytes() - before).toBeLessThan(READERS * MOST_HELD_BYTES);

    const items: { id: string; content: string }[] = [];
    for (let query = ""; ;) {
      const got = await whole.visitor(token, "GET", `threads/${threadId}/messages?limit=100${query}`);
      const page = (got.json() as { items: typeof items }).items;
      if (page[0] === undefined) break;
      items.unshift(...page);
      query = `&before=${page[0].id}`;
    }
    expect(items.map(({ content }) => content)).toEqual(texts);
    for (const [nth, query] of ["?run=r0", ""].entries()) {
      const lines = (await whole.visitor(token, "GET", `threads/${threadId}/stream${query}`)).lines();
      expect(textOf(lines.filter((line): line is ProgressLine => !isTerminal(line)))).toBe(texts[nth]);
      expect(lines.at(-1)).toMatchObject({ type: "done" });
    }
  });
});
