// For src/threads/recover/silence.ts
import { expect, test } from "vitest";
import { createSilence } from "../../../src/threads/recover/silence.ts";
import { RETIRED } from "../../../src/store.ts";
import type { Heartbeat } from "../../../src/store.ts";

/** Heartbeats by a watch that the test sets. */
function watch() {
  let nowMs = 0;
  const silence = createSilence({ elapsed: () => nowMs });
  return {
    silence,
    pass: (ms: number) => void (nowMs += ms),
    look: (...heartbeats: Heartbeat[]) => silence.look(() => Promise.resolve(heartbeats)),
    /** A look that is answered so much later. */
    slowLook: (ms: number, ...heartbeats: Heartbeat[]) =>
      silence.look(async () => {
        nowMs += ms;
        return heartbeats;
      }),
    gone: () => silence.longerThan(1_000).map(({ processId }) => processId),
  };
}

const a = { processId: "a", stamp: "1" };
const b = { processId: "b", stamp: "1" };

test("silent is whose heartbeat stays as it is", async () => {
  const { look, pass, gone, silence } = watch();
  await look(a, b);
  pass(900);
  await look(a, { ...b, stamp: "2" });
  pass(200);
  await look(a, { ...b, stamp: "2" });
  expect(gone()).toEqual(["a"]);
  await look({ ...a, stamp: "0.5" }, { ...b, stamp: "2" });
  expect(gone()).toEqual([]);
  expect(silence.longerThan(1_000)).toEqual([]);
});

test("who has retired is silent at once", async () => {
  const { look, gone } = watch();
  await look(a, { ...b, stamp: RETIRED });
  expect(gone()).toEqual(["b"]);
});

test("who is forgotten and comes back is seen as new", async () => {
  const { look, pass, gone, silence } = watch();
  await look(a);
  pass(900);
  await look();
  expect([...silence.known()]).toEqual([]);
  pass(900);
  await look(a);
  expect(gone()).toEqual([]);
});

test("an answer that waited while this process was stopped says nothing of that time", async () => {
  const { look, slowLook, gone } = watch();
  await look(a);
  await slowLook(60_000, a);
  expect(gone()).toEqual([]);
  await look(a);
  expect(gone()).toEqual(["a"]);
});

test("a heartbeat is new from its answer on", async () => {
  const { look, slowLook, pass, gone } = watch();
  await slowLook(5_000, a);
  pass(900);
  await look(a);
  expect(gone()).toEqual([]);
});

test("a look that fails changes nothing", async () => {
  const { silence, look, pass, gone } = watch();
  await look(a);
  pass(5_000);
  await expect(silence.look(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(gone()).toEqual([]);
});
