// For src/listeners/choose.ts, src/listeners/descriptors.ts, src/listeners/send-buffer.ts,
// src/listeners/uws/native-build.ts
import fc from "fast-check";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { UNREAD_LIMIT_BYTES } from "../../src/listener.ts";
import { chooseListen } from "../../src/listeners/choose.ts";
import { descriptorGate } from "../../src/listeners/descriptors.ts";
import { whyNoNativeBuild } from "../../src/listeners/uws/native-build.ts";
import { SendBuffer } from "../../src/listeners/send-buffer.ts";

describe("chooseListen()", () => {
  test("takes uWebSockets.js where its native build loads", async () => {
    expect(await chooseListen(null, false, () => null)).toMatchObject({ kind: "uws", note: null });
  });

  test("takes node:http where it does not, and says how to get native speed", async () => {
    const choice = await chooseListen(null, false, () => "uWebSockets.js has no build");
    expect(choice.kind).toBe("node");
    expect(choice.note).toContain("npm install uWebSockets.js@");
  });

  test("says in one line why it does not load here, and names another build only where one can help", async () => {
    const missing = whyNoNativeBuild();
    if (missing !== null)
      expect(missing).toMatch(
        /^uWebSockets\.js (?:needs glibc|has no build for Node|is not installed|does not load: ).*$/,
      );
    const old = "uWebSockets.js needs glibc 2.38 or newer, as in Debian 13 and Ubuntu 24.04";
    const { note } = await chooseListen(null, false, () => old);
    expect(note).toBe(`${old}; node:http listens`);
  });

  test("refuses where uws was wanted and is not there", async () => {
    await expect(chooseListen("uws", false, () => "no build")).rejects.toThrow(
      "Cannot listen with uWebSockets.js: no build",
    );
  });

  test("takes node:http where it was wanted, without a word", async () => {
    expect(await chooseListen("node", false, () => null)).toMatchObject({ kind: "node", note: null });
  });
});

describe("P19: the gate for file descriptors", () => {
  test("counts at most once a second, and takes requests that came since for what they may hold", () => {
    let counts = 0;
    let open = 50;
    let nowMs = 0;
    const full = descriptorGate(
      100,
      () => {
        counts++;
        return open;
      },
      () => nowMs,
    );
    expect([full(1), counts]).toEqual([false, 1]);
    expect([full(22), full(23), counts]).toEqual([false, true, 1]);
    expect([full(1), counts]).toEqual([false, 1]);
    open = 93;
    expect([full(1), counts]).toEqual([false, 1]);
    nowMs = 1_000;
    expect([full(1), counts]).toEqual([true, 2]);
  });

  test("asks nothing where the system tells no limit", () => {
    const full = descriptorGate(Infinity, () => {
      throw new Error("Cannot count: there is nothing to count in");
    });
    expect(full(1_000_000)).toBe(false);
  });
});

describe("the send buffer", () => {
  test("P17: whatever a connection takes and when, bytes leave whole, in order, and bounded", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            texts: fc.array(fc.nat({ max: 90_000 }), { maxLength: 4 }),
            drains: fc.nat({ max: 200_000 }),
          }),
          { maxLength: 20 },
        ),
        fc.nat({ max: 300_000 }),
        async (turns, kernelBytes) => {
          const connection = slowConnection(kernelBytes);
          let written = "";
          let latestTickBytes = 0;
          for (const [turn, { texts, drains }] of turns.entries()) {
            latestTickBytes = 0;
            for (const size of texts) {
              const text = String.fromCharCode(97 + (turn % 26)).repeat(size);
              connection.sendBuffer.write(turn % 2 ? text : Buffer.from(text));
              written += text;
              latestTickBytes += size;
            }
            await nextTurn();
            if (connection.isCut()) break;
            expect(connection.buffered() + connection.sendBuffer.unreadBytes).toBeLessThanOrEqual(
              2 * (UNREAD_LIMIT_BYTES + 360_000 + 100_000),
            );
            connection.drain(drains);
          }
          if (connection.isCut()) {
            expect(written.startsWith(connection.taken())).toBe(true);
            return;
          }
          connection.sendBuffer.end();
          await nextTurn();
          while (!connection.isEnded() && !connection.isCut()) connection.drain(50_000);
          if (!connection.isCut()) expect(connection.taken()).toBe(written);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("a reader that keeps up is given in one tick more than the limit, and is not cut off", async () => {
    const connection = slowConnection(10_000);
    connection.sendBuffer.write("x".repeat(3 * UNREAD_LIMIT_BYTES));
    connection.sendBuffer.end();
    await nextTurn();
    while (!connection.isEnded()) connection.drain(20_000);
    expect(connection.isCut()).toBe(false);
    expect(connection.taken()).toHaveLength(3 * UNREAD_LIMIT_BYTES);
  });

  test("a reader that moves, however slowly, is not cut off for what it has read", async () => {
    const connection = slowConnection(10_000);
    for (let turn = 0; turn < 600; turn++) {
      connection.sendBuffer.write("x".repeat(20_000));
      await nextTurn();
      connection.drain(21_500);
    }
    expect(connection.isCut()).toBe(false);
  });
});

/** A connection as uWebSockets.js has it: it keeps what the kernel does not take, and drains when the kernel does. */
function slowConnection(kernelBytes: number) {
  let taken = "";
  let buffer = "";
  let room = kernelBytes;
  let cut = false;
  let ended = false;
  const move = (): void => {
    taken += buffer.slice(0, room);
    const moved = Math.min(room, buffer.length);
    buffer = buffer.slice(moved);
    room -= moved;
  };
  const sendBuffer = new SendBuffer({
    write(frame) {
      buffer += Buffer.from(frame).toString();
      move();
      return buffer.length === 0;
    },
    end: () => void (ended = true),
    cutOff: () => void (cut = true),
    corked: (work) => work(),
  });
  return {
    sendBuffer,
    taken: () => taken,
    buffered: () => buffer.length,
    isCut: () => cut,
    isEnded: () => ended && buffer.length === 0,
    drain(bytes: number) {
      room = Math.min(kernelBytes + bytes, room + bytes);
      move();
      sendBuffer.writable();
    },
  };
}
