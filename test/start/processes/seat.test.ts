// For src/start/processes/seat.ts
import { expect, test } from "vitest";
import { Seat } from "../../../src/start/processes/seat.ts";
import type { Seated } from "../../../src/start/processes/seat.ts";

const TOLD = { type: "listening", told: {}, greeting: "" } as const;

/** A process that listens and ends when the test says so. */
class PlayedProcess implements Seated {
  readonly number: number;
  readonly left: string[] = [];
  isLeaving = false;
  listeningSinceMs: number | null = null;
  readonly listening: Promise<typeof TOLD>;
  readonly ended: Promise<string>;
  listen: () => void = () => {};
  fail: (reason: string) => void = () => {};
  end: (how: string) => void = () => {};

  constructor(number: number) {
    this.number = number;
    this.listening = new Promise((resolve, reject) => {
      this.listen = () => {
        this.listeningSinceMs = performance.now();
        resolve(TOLD);
      };
      this.fail = (reason) => reject(new Error(reason));
    });
    this.listening.catch(() => {});
    this.ended = new Promise((resolve) => (this.end = resolve));
  }

  leave(how: "stop" | "retire"): void {
    this.isLeaving = true;
    this.left.push(how);
  }
}

function openSeat() {
  const opened: PlayedProcess[] = [];
  const logged: string[] = [];
  const givenUp: string[] = [];
  const stopping = new AbortController();
  const note = (_fields: object, text: string) => void logged.push(text);
  const seat = new Seat({
    open() {
      const process = new PlayedProcess(opened.length + 1);
      opened.push(process);
      return process;
    },
    log: { info: note, warn: note, error: note },
    stopping: stopping.signal,
    onGivenUp: (error) => void givenUp.push(error.message),
    backOffMs: [0, 0, 0],
  });
  const nth = async (count: number) => {
    await expect.poll(() => opened.length).toBe(count);
    const process = opened[count - 1];
    if (process === undefined) throw new Error("Cannot happen: it was counted");
    return process;
  };
  return { seat, opened, logged, givenUp, stopping, nth };
}

async function fill({ seat, nth }: ReturnType<typeof openSeat>): Promise<PlayedProcess> {
  const filling = seat.fill();
  const process = await nth(1);
  process.listen();
  await filling;
  return process;
}

test("a process that ends by itself is replaced, each time", async () => {
  const opened = openSeat();
  (await fill(opened)).end("SIGKILL");
  const second = await opened.nth(2);
  second.listen();
  second.end("exit code 0");
  (await opened.nth(3)).listen();
  expect(opened.logged).toHaveLength(2);
  expect(opened.givenUp).toEqual([]);
});

test("processes that end at once, again and again, are given up, with the last one's reason", async () => {
  const opened = openSeat();
  (await fill(opened)).end("SIGKILL");
  (await opened.nth(2)).fail("no memory");
  const third = await opened.nth(3);
  third.listen();
  third.end("SIGABRT");
  (await opened.nth(4)).fail("Cannot reach Redis");
  await expect
    .poll(() => opened.givenUp)
    .toEqual(["Cannot keep a process running: it ended 4 times in a row, at last: Cannot reach Redis"]);
  expect(opened.opened).toHaveLength(4);
});

test("a process that has listened for long begins the count anew", async () => {
  const opened = openSeat();
  let process = await fill(opened);
  for (let count = 2; count < 9; count++) {
    process.listeningSinceMs = performance.now() - 60_000;
    process.end("SIGSEGV");
    process = await opened.nth(count);
    process.listen();
    await process.listening;
  }
  expect(opened.givenUp).toEqual([]);
});

test("a restart: the old one is told to retire when the new one listens, and its end is no death", async () => {
  const opened = openSeat();
  const old = await fill(opened);
  const renewing = opened.seat.renew();
  const fresh = await opened.nth(2);
  expect(old.left).toEqual([]);
  fresh.listen();
  await renewing;
  expect(old.left).toEqual(["retire"]);
  old.end("exit code 0");
  await old.ended;
  fresh.end("SIGKILL");
  await opened.nth(3);
  expect(opened.logged).toHaveLength(1);
});

test("a restart that fails leaves the old one where it is", async () => {
  const opened = openSeat();
  const old = await fill(opened);
  const renewing = opened.seat.renew();
  (await opened.nth(2)).fail("Cannot read CHANNELS_FILE");
  await expect(renewing).rejects.toThrow("Cannot read CHANNELS_FILE");
  expect(old.left).toEqual([]);
  old.end("SIGKILL");
  await opened.nth(3);
});

test("nobody is replaced while all stop", async () => {
  const opened = openSeat();
  const process = await fill(opened);
  opened.stopping.abort();
  process.end("SIGKILL");
  await process.ended;
  await opened.seat.renew();
  expect(opened.opened).toHaveLength(1);
});
