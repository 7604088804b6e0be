// For src/client/requests.ts, src/client/query.ts, src/client/send.ts
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ClientOptions } from "../../src/client/client.d.ts";
import { createClient } from "../../src/client/create-client.ts";

/** When the client comes back, on a set time and without chance. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: 0 });
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const THREAD = { threadId: "t", userId: "u" };
const DONE = '{"type":"done","elapsedMs":1}\n';

/** A client, and when each of its requests was made; each is answered by the next of these, the last one again and again. */
function open(answers: (() => Response)[], options: Partial<ClientOptions> = {}) {
  const askedAtMs: number[] = [];
  const answer = () => {
    const next = answers[Math.min(askedAtMs.push(Date.now()), answers.length) - 1];
    return next ? Promise.resolve().then(next) : Promise.reject(new Error("No answer"));
  };
  const client = createClient({ baseUrl: "http://service.test", key: "k", fetch: answer, ...options });
  return { client, askedAtMs };
}

const LOST = new TypeError("fetch failed");
const lost = () => {
  throw LOST;
};
const answered =
  (status: number, headers: Record<string, string> = {}) =>
  () =>
    new Response(status === 200 ? DONE : "No", { status, headers });

test("a message to a service that is away is repeated later each time, for a minute, and then rejects with the fault", async () => {
  const { client, askedAtMs } = open([lost]);
  const { final } = client.send({ ...THREAD, text: "Hello" });
  final.catch(() => {});
  await vi.advanceTimersByTimeAsync(61_750);
  await expect(final).rejects.toBe(LOST);
  expect(askedAtMs).toEqual([0, 250, 750, 1_750, 3_750, 7_750, 15_750, 31_750, 61_750]);
});

test("503 and 429 are asked again, as late as they say; waits grow to 30 seconds and no further", async () => {
  const busy = answered(503, { "retry-after": "7" });
  const many = answered(429, { "retry-after": "2" });
  const { client, askedAtMs } = open([busy, many, answered(500), answered(200)]);
  const { final } = client.send({ ...THREAD, text: "Hello" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await final).toEqual({ type: "done", elapsedMs: 1 });
  expect(askedAtMs).toEqual([0, 7_000, 9_000, 10_000]);

  const patient = open([lost], { retries: 10 });
  const fault = patient.client.history(THREAD).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(125_000);
  expect(await fault).toBe(LOST);
  const waits = patient.askedAtMs.map((atMs, nth) => atMs - (patient.askedAtMs[nth - 1] ?? atMs));
  expect(waits.slice(-3)).toEqual([30_000, 30_000, 30_000]);
});

test("a refusal is not asked again, and nothing is where `retries` is 0", async () => {
  const refused = open([answered(422)]);
  await expect(refused.client.cancel(THREAD)).rejects.toMatchObject({ status: 422, message: "422 No" });
  const once = open([answered(503, { "retry-after": "9" })], { retries: 0 });
  await expect(once.client.cancel(THREAD)).rejects.toMatchObject({ status: 503, retryAfterMs: 9_000 });
  await vi.advanceTimersByTimeAsync(60_000);
  expect([refused.askedAtMs, once.askedAtMs]).toEqual([[0], [0]]);
});

test("a signal ends a wait at once; a wait that is over leaves nothing on it", async () => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const added = vi.spyOn(signal, "addEventListener");
  const removed = vi.spyOn(signal, "removeEventListener");
  const armed = vi.spyOn(globalThis, "setTimeout");
  const cleared = vi.spyOn(globalThis, "clearTimeout");
  const { client, askedAtMs } = open([lost]);
  const { final } = client.send({ ...THREAD, text: "Hello" }, { signal });
  await vi.advanceTimersByTimeAsync(800);
  leaving.abort("enough");
  await expect(final).rejects.toBe("enough");
  // Its own wait alone: what other files of this process left running may have timers, too.
  const waits = armed.mock.results.filter((_, nth) => armed.mock.calls[nth]?.[1] === 1_000);
  expect(waits).toHaveLength(1);
  expect(cleared).toHaveBeenCalledWith(waits[0]?.value);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(askedAtMs).toEqual([0, 250, 750]);
  expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([3, 2]);
});

test("a reply that is silent for 45 seconds is asked for again, and goes on where it was", async () => {
  const left = vi.fn<() => void>();
  const rests = () => {
    const start = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new TextEncoder().encode('{"type":"delta","text":"One "}\n'));
    return new Response(new ReadableStream({ start, cancel: left }));
  };
  const whole = () => new Response(`{"type":"delta","text":"One two."}\n${DONE}`);
  const { client, askedAtMs } = open([rests, whole]);
  const reply = client.send({ ...THREAD, text: "Hello" });
  await vi.advanceTimersByTimeAsync(45_250);
  await reply.final;
  const told: string[] = [];
  for await (const line of reply) told.push(line.type === "delta" ? line.text : line.type);
  expect(told).toEqual(["One ", "two.", "done"]);
  expect(askedAtMs).toEqual([0, 45_250]);
  expect(left).toHaveBeenCalledOnce();
});
