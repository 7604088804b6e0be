import { expect, test } from "vitest";
import { PassingFault } from "../../src/models/faults.ts";
import { withRetries } from "../../src/models/retry.ts";

test("aborted in the pause before a retry: rejects at once, and does not try again", async () => {
  const stop = new AbortController();
  let tries = 0;
  const attempt = async () => {
    tries += 1;
    setImmediate(() => stop.abort("visitor left"));
    throw new PassingFault("busy", { cause: null, retryAfterMs: 4_000 });
  };
  await expect(withRetries({ attempt, mayRetry: () => true, signal: stop.signal })).rejects.toBe(
    "visitor left",
  );
  expect(tries).toBe(1);
});
