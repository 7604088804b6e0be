// For src/start/processes/watch-silence.ts
import { expect, test } from "vitest";
import { createSilenceWatch } from "../../../src/start/processes/watch-silence.ts";

function watchOver() {
  const killed: number[] = [];
  const played = (number: number) => ({
    number,
    listeningSinceMs: 1 as number | null,
    heard: 0,
    kill: () => void killed.push(number),
  });
  const watch = createSilenceWatch({ info: () => {}, warn: () => {}, error: () => {} });
  return { killed, played, watch };
}

test("a process that says nothing for fifteen looks is killed, once; one that speaks now and then is not", () => {
  const { killed, played, watch } = watchOver();
  const [hangs, speaks] = [played(1), played(2)];
  for (let nth = 0; nth < 15; nth++) {
    if (nth % 14 === 0) speaks.heard++;
    watch([hangs, speaks]);
  }
  expect(killed).toEqual([]);
  for (let nth = 0; nth < 10; nth++) watch([hangs, speaks]);
  expect(killed).toEqual([1]);
});

test("a start may take as long as it likes", () => {
  const { killed, played, watch } = watchOver();
  const starts = played(1);
  starts.listeningSinceMs = null;
  for (let nth = 0; nth < 40; nth++) watch([starts]);
  starts.listeningSinceMs = 5;
  for (let nth = 0; nth < 15; nth++) watch([starts]);
  expect(killed).toEqual([]);
  watch([starts]);
  expect(killed).toEqual([1]);
});
