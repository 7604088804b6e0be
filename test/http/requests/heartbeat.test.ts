// For src/http/stream/heartbeat.ts, src/http/stream/
import { constants, gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Line } from "../../../machines/line.ts";
import type { Reply } from "../../../src/threads/hold/reply.ts";
import type { HttpAnswer, HttpRequest } from "../../../src/listener.ts";
import { linesOf } from "../../../src/client/core/follow.ts";

type Answering = (reply: Reply, request: HttpRequest) => HttpAnswer;

let streamAnswer: Answering;
/** As the AI SDK's and AG-UI's clients have it. */
let eventsAnswer: Answering;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  // Its own timer: streams of other tests may have begun the one of this process.
  vi.resetModules();
  ({ streamAnswer } = await import("../../../src/http/stream/stream-answer.ts"));
  const { sseAnswer } = await import("../../../src/http/stream/sse-answer.ts");
  const translation = { headers: {}, opening: [], eventsOf: (line: Line) => [line], closing: "" };
  eventsAnswer = (reply, request) => sseAnswer(reply, request, translation);
});

afterEach(() => {
  vi.useRealTimers();
});

/** A stream whose reply speaks when the test says so. */
function openStream(accepts: string, answering: Answering = streamAnswer) {
  let speak: (lines: Line[]) => void = () => {};
  let isLeft = false;
  const reply: Reply = {
    runId: "r1",
    read: (take) => void (speak = take),
    leave: () => void (isLeft = true),
  };
  const request = { headers: new Map([["accept-encoding", accepts]]) };
  // A cast: the headers are all that is read of a request here.
  const answer = answering(reply, request as unknown as HttpRequest);
  const chunks: Buffer[] = [];
  let goAway = () => {};
  answer.stream?.({
    write: (chunk) => void chunks.push(Buffer.from(chunk)),
    end: (chunk) => void chunks.push(Buffer.from(chunk ?? "")),
    onGone: (callback) => void (goAway = callback),
    onDrained: () => {},
    pull: () => {},
    cut: () => {},
  });
  return {
    say: (...lines: Line[]) => speak(lines),
    goAway: () => goAway(),
    isLeft: () => isLeft,
    bytes: () => Buffer.concat(chunks).length,
    text: () => {
      const all = Buffer.concat(chunks);
      if (accepts !== "gzip") return all.toString();
      return gunzipSync(all, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
    },
  };
}

describe.each(["gzip", "identity"])("a stream (%s) that has nothing to say", (accepts) => {
  const told = [
    { type: "delta", text: "a" },
    { type: "delta", text: "b" },
    { type: "done", elapsedMs: 1 },
  ];

  /** A minute between the first line and the others. */
  function sayWithPause(stream: ReturnType<typeof openStream>): string {
    stream.say({ type: "delta", text: "a" });
    for (let seconds = 0; seconds < 60; seconds += 15) {
      const before = stream.bytes();
      vi.advanceTimersByTime(15_000);
      expect(stream.bytes()).toBeGreaterThan(before);
    }
    stream.say({ type: "delta", text: "b" }, { type: "done", elapsedMs: 1 });
    return stream.text();
  }

  test("as events, lets no 15 seconds pass in silence either, by comments between them", () => {
    const blocks = sayWithPause(openStream(accepts, eventsAnswer)).split("\n\n");
    expect(blocks.pop()).toBe("");
    const comments = blocks.filter((block) => block === ":");
    expect(comments.length).toBeGreaterThanOrEqual(4);
    const events = blocks.filter((block) => block !== ":");
    expect(events).toEqual(told.map((line) => `data: ${JSON.stringify(line)}`));
    expect(vi.getTimerCount()).toBe(0);
  });

  test("lets no 15 seconds pass in silence, and says nothing by it", async () => {
    const stream = openStream(accepts);
    const lines = sayWithPause(stream).split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(told);
    const body = new Response(stream.text()).body;
    const read: unknown[] = [];
    if (body !== null) for await (const line of linesOf(body)) read.push(line);
    expect(read).toEqual(told);
  });

  test("says nothing after its end, nor to a reader that is gone", () => {
    // What other files of this process left running may have begun some.
    vi.clearAllTimers();
    const ended = openStream(accepts);
    ended.say({ type: "done", elapsedMs: 1 });
    const left = openStream(accepts);
    left.goAway();
    const before = [ended.bytes(), left.bytes()];
    vi.advanceTimersByTime(60_000);
    expect([ended.bytes(), left.bytes()]).toEqual(before);
    expect(left.isLeft()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("a stream that speaks is left alone", () => {
  const stream = openStream("identity");
  for (let seconds = 0; seconds < 30; seconds += 5) {
    stream.say({ type: "delta", text: "a" });
    vi.advanceTimersByTime(5_000);
  }
  expect(stream.text().includes(" ")).toBe(false);
});
