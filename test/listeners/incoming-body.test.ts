// For src/listeners/incoming-body.ts
import { describe, expect, test } from "vitest";
import { Refusal } from "../../src/domain/refusal.ts";
import { RequestGone } from "../../src/listener.ts";
import { IncomingBody } from "../../src/listeners/incoming-body.ts";

/** A body, and what it did to its connection. */
function arriving(declared: number | null = null) {
  const flow: string[] = [];
  const body = new IncomingBody({
    declared,
    flow: { pause: () => void flow.push("pause"), resume: () => void flow.push("resume") },
  });
  return { body, flow };
}

const kilobytes = (count: number): Uint8Array => new Uint8Array(count * 1_024).fill(120);

describe("a body", () => {
  test("that nobody reads is paused once more than 128 KiB have come", () => {
    const { body, flow } = arriving();
    body.push(kilobytes(128));
    expect(flow).toEqual([]);
    body.push(kilobytes(1));
    body.push(kilobytes(64));
    expect(flow).toEqual(["pause"]);
  });

  test("goes on when it is read, and is not paused again", async () => {
    const { body, flow } = arriving();
    body.push(kilobytes(129));
    const reading = body.read(1_000_000);
    expect(flow).toEqual(["pause", "resume"]);
    body.push(kilobytes(300));
    body.finish();
    expect((await reading).length).toBe(429 * 1_024);
    expect(flow).toEqual(["pause", "resume"]);
  });

  test("is refused as soon as more has come than the limit, and not at the limit", async () => {
    const { body } = arriving();
    const reading = body.read(2_048);
    body.push(kilobytes(2));
    body.push(new Uint8Array(1));
    await expect(reading).rejects.toThrow(Refusal);
    const fitting = arriving(2_048);
    fitting.body.push(kilobytes(2));
    fitting.body.finish();
    expect((await fitting.body.read(2_048)).length).toBe(2_048);
    await expect(arriving(2_049).body.read(2_048)).rejects.toThrow(Refusal);
  });

  test("whose client left rejects, before it is read and while it is", async () => {
    const before = arriving(10);
    before.body.gone();
    await expect(before.body.read(100)).rejects.toThrow(RequestGone);
    const during = arriving(10);
    const reading = during.body.read(100);
    during.body.gone();
    await expect(reading).rejects.toThrow(RequestGone);
  });

  test("that came whole is whole, also when the client leaves after it", async () => {
    const { body } = arriving(1_024);
    body.push(kilobytes(1));
    body.finish();
    expect(body.complete).toBe(true);
    body.gone();
    expect(body.complete).toBe(true);
  });

  test("that is not wanted is let in to its end before the answer, and nothing of it is kept", async () => {
    const { body, flow } = arriving();
    body.push(kilobytes(200));
    let isAnswered = false;
    const rest = body.rest().then(() => (isAnswered = true));
    expect(flow).toEqual(["pause", "resume"]);
    body.push(kilobytes(500));
    await new Promise(setImmediate);
    expect([isAnswered, flow.length]).toEqual([false, 2]);
    body.finish();
    await rest;
  });

  test("that is not wanted and longer than 16 MiB holds no answer up", async () => {
    await arriving(16 * 1_048_576 + 1).body.rest();
    const { body } = arriving();
    const rest = body.rest();
    for (let mebibytes = 0; mebibytes <= 16; mebibytes++) body.push(kilobytes(1_024));
    await rest;
    expect(body.complete).toBe(false);
  });
});
