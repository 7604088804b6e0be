// For src/http/stream/
import { createGunzip, constants, gunzipSync } from "node:zlib";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Outlet } from "../../../src/listener.ts";
import { acceptsGzip } from "../../../src/http/stream/accepts-gzip.ts";
import { COMPRESSING_MAX, compressingStreams, gzipOutlet } from "../../../src/http/stream/gzip.ts";
import { encodeInPool, encodeInThread, encodeWithZlib } from "../../../src/http/stream/gzip-encoders.ts";
import type { MakeEncoder } from "../../../src/http/stream/gzip-encoders.ts";
import { streamAnswer } from "../../../src/http/stream/stream-answer.ts";
import { createReply } from "../../../src/threads/hold/reply.ts";
import { requestFrom } from "../service.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { randomRuns } from "../../support/lengths.ts";

/** An outlet that keeps what it is given. */
function keptOutlet() {
  const chunks: Buffer[] = [];
  let tellGone = (): void => {};
  let ended = (): void => {};
  const end = new Promise<void>((resolve) => (ended = resolve));
  const outlet: Outlet = {
    write: (chunk) => void chunks.push(Buffer.from(chunk)),
    end: () => ended(),
    onDrained: (callback) => callback(),
    pull: () => {},
    cut: () => {},
    onGone: (callback) => void (tellGone = callback),
  };
  return {
    outlet,
    end,
    bytes: () => Buffer.concat(chunks),
    writes: () => chunks.length,
    goAway: () => tellGone(),
  };
}

const encoders: [string, MakeEncoder][] = [
  ["zlib in this thread", encodeWithZlib],
  ["zlib in the thread pool", encodeInPool],
];

const cut = { finishFlush: constants.Z_SYNC_FLUSH };

test("this Node compresses in the thread", () => {
  const encoder = encodeInThread({ pass: () => {}, finish: () => {} });
  expect(encoder).not.toBeNull();
  encoder?.abort();
});

describe.each(encoders)("gzip by %s", (_name, make) => {
  test("each line can be decoded as soon as it is written, and the header before any", async () => {
    const { outlet, end, bytes, writes } = keptOutlet();
    const gzip = gzipOutlet(outlet, make);
    await waitFor(() => writes() > 0);
    expect(gunzipSync(bytes(), cut).toString()).toBe("");
    let said = "";
    for (const line of ["one\n", "two\n", "three ".repeat(40_000)]) {
      said += line;
      gzip.write(line);
      await waitFor(() => gunzipSync(bytes(), cut).toString() === said);
    }
    gzip.end("last\n");
    await end;
    expect(gunzipSync(bytes()).toString()).toBe(`${said}last\n`);
  });

  test("gzip cut anywhere decodes to a beginning of what was written", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: anyCharacter, maxLength: 200 }), { maxLength: 8 }),
        fc.array(fc.nat({ max: 400 }), { maxLength: 4 }),
        async (texts, sizes) => {
          const { outlet, end, bytes } = keptOutlet();
          const gzip = gzipOutlet(outlet, make);
          for (const text of texts) gzip.write(text);
          gzip.end();
          await end;
          const whole = Buffer.from(texts.join(""));
          expect(gunzipSync(bytes()).equals(whole)).toBe(true);
          expect((await gunzipInPieces(bytes(), sizes)).equals(whole)).toBe(true);
        },
      ),
      { numRuns: randomRuns(40) },
    );
  });

  test("the memory of zlib is free after the end, and where the reader is gone", async () => {
    const before = compressingStreams();
    const ended = keptOutlet();
    const gone = keptOutlet();
    const first = gzipOutlet(ended.outlet, make);
    const second = gzipOutlet(gone.outlet, make);
    expect(compressingStreams()).toBe(before + 2);
    let told = 0;
    second.onGone(() => told++);
    second.write("never read");
    first.end("x");
    gone.goAway();
    await ended.end;
    expect(compressingStreams()).toBe(before);
    expect(told).toBe(1);
    const written = gone.writes();
    second.write("more");
    second.end();
    await nextTurn();
    expect(gone.writes()).toBe(written);
  });
});

describe("an outlet that compresses, over an encoder that takes its time", () => {
  function open() {
    const before = compressingStreams();
    const did: string[] = [];
    let finish = () => {};
    const gone: (() => void)[] = [];
    let isGone = false;
    const outlet: Outlet = {
      write() {},
      end: () => void did.push("ended"),
      onDrained: (callback) => callback(),
      pull: () => {},
      cut: () => {},
      onGone: (callback) => void (isGone ? callback() : gone.push(callback)),
    };
    const gzip = gzipOutlet(outlet, (target) => {
      finish = () => target.finish();
      return { write: () => void did.push("wrote"), end() {}, abort: () => void did.push("aborted") };
    });
    return {
      gzip,
      did,
      finish: () => finish(),
      goAway: () => {
        isGone = true;
        for (const callback of gone.splice(0)) callback();
      },
      compressing: () => compressingStreams() - before,
    };
  }

  test("a reader that goes frees the encoder, once, and whoever asks later hears of it at once", () => {
    const { gzip, did, goAway, compressing } = open();
    let told = 0;
    gzip.onGone(() => told++);
    goAway();
    expect([did, told, compressing()]).toEqual([["aborted"], 1, 0]);
    gzip.onGone(() => told++);
    expect(told).toBe(2);
    gzip.write("more");
    gzip.end();
    expect([did, compressing()]).toEqual([["aborted"], 0]);
  });

  test("after its end nobody is told that the reader went, and it is counted off once", () => {
    const { gzip, did, goAway, compressing } = open();
    let told = 0;
    gzip.onGone(() => told++);
    gzip.end("last");
    goAway();
    expect([did, told, compressing()]).toEqual([["wrote", "aborted"], 0, 0]);

    const whole = open();
    whole.gzip.end();
    expect(whole.compressing()).toBe(1);
    whole.finish();
    whole.goAway();
    expect([whole.did, whole.compressing()]).toEqual([["ended"], 0]);
  });
});

test("a stream past the most that compress at once is sent as it is", () => {
  const holdNothing: MakeEncoder = (target) => ({
    write: () => {},
    end: () => target.finish(),
    abort: () => {},
  });
  const free = COMPRESSING_MAX - compressingStreams();
  const open = Array.from({ length: free }, () => gzipOutlet(keptOutlet().outlet, holdNothing));
  const request = requestFrom({ headers: { "accept-encoding": "gzip" } });

  const past = streamAnswer(createReply("r1"), request);
  expect(past.headers["content-encoding"]).toBeUndefined();
  const { outlet, bytes } = keptOutlet();
  const reply = createReply("r2");
  streamAnswer(reply, request).stream?.(outlet);
  reply.say([{ type: "delta", text: "plain" }]);
  expect(bytes().toString()).toBe('{"type":"delta","text":"plain"}\n');

  for (const gzip of open) gzip.end();
  expect(streamAnswer(createReply("r3"), request).headers["content-encoding"]).toBe("gzip");
});

test.each([
  [undefined, false],
  ["", false],
  ["gzip", true],
  ["GZIP", true],
  ["gzip, deflate, br", true],
  ["br;q=1.0, gzip;q=0.001", true],
  ["gzip;q=0", false],
  ["gzip; Q=0.000", false],
  ["gzip ; q = 0", false],
  ["*", true],
  ["*;q=0", false],
  ["*, gzip;q=0", false],
  ["gzip;q=0, *", false],
  ["identity", false],
  ["br", false],
  ["xgzip", false],
  ["gzip;q=none", false],
  [`${"br, ".repeat(500)}gzip`, true],
] as const)("accept-encoding %j takes gzip: %s", (header, wanted) => {
  expect(acceptsGzip(header)).toBe(wanted);
});

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}

/** As a reader decodes what arrives in pieces. */
async function gunzipInPieces(bytes: Buffer, sizes: readonly number[]): Promise<Buffer> {
  const gunzip = createGunzip();
  const read: Buffer[] = [];
  gunzip.on("data", (piece: Buffer) => read.push(piece));
  const end = new Promise<void>((resolve, reject) => gunzip.once("end", resolve).once("error", reject));
  let at = 0;
  for (const size of sizes) {
    gunzip.write(bytes.subarray(at, at + size));
    at += size;
    gunzip.flush(() => {});
  }
  gunzip.end(bytes.subarray(at));
  await end;
  return Buffer.concat(read);
}
