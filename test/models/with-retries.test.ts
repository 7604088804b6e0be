// For src/models/faults.ts, src/models/with-retries.ts
import { expect, test } from "vitest";
import { ModelFault } from "../../src/model.ts";
import { PassingFault } from "../../src/models/faults.ts";
import { realPause, withRetries } from "../../src/models/with-retries.ts";

test("aborted in the pause before a retry: rejects at once, and does not try again", async () => {
  const stop = new AbortController();
  let tries = 0;
  const attempt = async () => {
    tries += 1;
    setImmediate(() => stop.abort("visitor left"));
    throw new PassingFault("busy", { cause: null, retryAfterMs: 4_000 });
  };
  const trying = withRetries({ attempt, mayRetry: () => true, pause: realPause, signal: stop.signal });
  await expect(trying).rejects.toBe("visitor left");
  expect(tries).toBe(1);
});

/** Always fails like this: how often it was tried, and the pauses between. */
async function failing(error: Error, mayRetry = true): Promise<{ tries: number; pauses: number[] }> {
  let tries = 0;
  const pauses: number[] = [];
  const trying = withRetries({
    attempt: () => Promise.reject((tries++, error)),
    mayRetry: () => mayRetry,
    signal: new AbortController().signal,
    pause: (ms) => Promise.resolve(pauses.push(ms)),
  });
  await expect(trying).rejects.toBe(error);
  return { tries, pauses };
}

test("P28: three tries in all; the pause between them doubles, and half of it is random", async () => {
  const all = await Promise.all(
    Array.from({ length: 200 }, () => failing(new PassingFault("busy", { cause: null }))),
  );
  expect(new Set(all.map(({ tries }) => tries))).toEqual(new Set([3]));
  for (const [nth, least, most] of [
    [0, 200, 400],
    [1, 400, 800],
  ] as const) {
    const pauses = all.map((one) => one.pauses[nth] ?? 0);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(most);
    expect(new Set(pauses).size).toBeGreaterThan(1);
  }
});

test("P28: the pause is what the server asks for; one over five seconds is not waited for", async () => {
  const asking = (retryAfterMs: number) => failing(new PassingFault("busy", { cause: null, retryAfterMs }));
  expect(await asking(0)).toEqual({ tries: 3, pauses: [0, 0] });
  expect(await asking(5_000)).toEqual({ tries: 3, pauses: [5_000, 5_000] });
  expect(await asking(5_001)).toEqual({ tries: 1, pauses: [] });
});

test("P28: another fault is not tried again, nor one of a model that is closed", async () => {
  expect((await failing(new ModelFault("no"))).tries).toBe(1);
  expect((await failing(new PassingFault("busy", { cause: null }), false)).tries).toBe(1);
});
