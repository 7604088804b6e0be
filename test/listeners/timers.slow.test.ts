// For src/listeners/node.ts, src/listeners/uws/timers.ts
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, test } from "vitest";
import { RequestGone } from "../../src/listener.ts";
import type { HttpAnswer, HttpRequest, Listen, Listener, Outlet } from "../../src/listener.ts";
import { listenNode } from "../../src/listeners/node.ts";
import { listenUws } from "../../src/listeners/uws.ts";
import { whyNoNativeBuild } from "../../src/listeners/uws/native-build.ts";

/**
 * What only time shows, all of it at once: a listener's timers are real, and uWebSockets.js's have a grain of 4 s. They
 * close after 8 to 12 s; a machine that is busy adds to that, and so a test waits for the close however long it takes.
 */
/** Longer than any timer of a listener. */
const LONG_MS = 15_000;
/** Longer than every other timer, and than a balancer's in this test. */
const KEPT_MS = 17_000;
const REUSED_AFTER_MS = 15_000;
/** More than the kernel takes of a connection, in one tick: taken from a reader that has kept up. */
const FULL = `${"x".repeat(9_000_000)}\nlast line\n`;

const missing = whyNoNativeBuild();
const concurrent = { concurrent: true };
describe("time, on node", concurrent, () => {
  timerSuite(listenNode);
});
describe.skipIf(missing !== null)(`time, on uws${missing ? `: ${missing}` : ""}`, concurrent, () => {
  timerSuite(listenUws);
});

function timerSuite(listen: Listen): void {
  let listener: Listener;
  const completed: string[] = [];
  const gone: string[] = [];
  /** Whoever waits for the stream at a path. */
  const waiting = new Map<string, (outlet: Outlet) => void>();

  async function answer(request: HttpRequest): Promise<HttpAnswer> {
    const { path } = request;
    if (path.startsWith("/stream")) {
      const headers = { "content-type": "application/x-ndjson" };
      const stream = (outlet: Outlet) => {
        outlet.onGone(() => gone.push(path));
        waiting.get(path)?.(outlet);
      };
      return { status: 200, headers, stream };
    }
    try {
      await request.body(1_000);
      completed.push(path);
    } catch (error) {
      if (error instanceof RequestGone) gone.push(path);
      throw error;
    }
    return { status: 200, headers: {}, body: path === "/long" ? "x".repeat(14_000) : "ok" };
  }

  beforeAll(async () => {
    listener = await listen({ host: "127.0.0.1", port: 0, handler: answer, keepAliveMs: KEPT_MS });
  });
  afterAll(() => listener.close());

  /** A connection, what it has received, and when it was closed. */
  function open(bytes: string) {
    const socket = connect({ port: listener.port, host: "127.0.0.1", noDelay: true });
    let text = "";
    let answers = 0;
    socket.on("data", (piece) => {
      answers += piece.toString("latin1").split("HTTP/1.1 200 OK").length - 1;
      text = (text + piece.toString("latin1")).slice(-1_000);
    });
    socket.on("error", () => {});
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.write(bytes);
    return { socket, closed, text: () => text, answers: () => answers };
  }

  /** Sends a byte a second until the connection is closed. */
  async function drip(socket: Socket, bytes: string): Promise<void> {
    for (const byte of bytes) {
      if (!socket.writable) return;
      socket.write(byte);
      await pause(1_000);
    }
  }

  async function streamAt(path: string) {
    const opened = open(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const outlet = await new Promise<Outlet>((resolve) => waiting.set(path, resolve));
    return { ...opened, outlet };
  }

  test("a body that falls silent: the connection is closed, and the handler told", async ({ expect }) => {
    const { closed } = open("POST /silent HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhello");
    await closed;
    await expect.poll(() => gone).toContain("/silent");
    expect(completed).not.toContain("/silent");
  });

  test("a head of a byte a second: closed", async ({ expect }) => {
    const { socket, closed } = open("");
    void drip(socket, `GET /slow HTTP/1.1\r\nHost: ${"x".repeat(40)}\r\n\r\n`);
    await closed;
    expect(completed).not.toContain("/slow");
  });

  test("a body of a byte a second: closed", async ({ expect }) => {
    const { socket, closed } = open("POST /drip HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n");
    void drip(socket, "x".repeat(40));
    await closed;
    expect(completed).not.toContain("/drip");
  });

  test.for(["/again", "/long", "/stream/again"])(
    "N1: a connection is good for as long as it is to be kept, and closed in the end: %s",
    async (path, { expect }) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
      waiting.set(path, (outlet) => outlet.end("line\n"));
      const { socket, closed, answers: count } = open(request);
      let isClosed = false;
      void closed.then(() => (isClosed = true));
      for (const answers of [1, 2]) {
        await expect.poll(count).toBe(answers);
        await pause(answers === 1 ? REUSED_AFTER_MS : 0);
        expect(isClosed).toBe(false);
        if (answers === 1) socket.write(request);
      }
      await closed;
    },
  );

  test("a stream whose model says nothing for long is open, and gets its first line", async ({ expect }) => {
    const { outlet, text, socket } = await streamAt("/stream/late");
    await pause(LONG_MS);
    outlet.end("late\n");
    await expect.poll(text).toContain("late");
    expect(gone).not.toContain("/stream/late");
    socket.destroy();
  });

  test("a reader that pauses for 25 s over a little data lives, and reads all of it", async ({ expect }) => {
    const { outlet, text, socket } = await streamAt("/stream/paused");
    socket.pause();
    for (let nth = 0; nth < 25; nth++) {
      outlet.write(`line ${nth}\n`);
      await pause(1_000);
    }
    expect(gone).not.toContain("/stream/paused");
    socket.resume();
    outlet.end("last\n");
    await expect.poll(text).toContain("last");
    expect(text()).toContain("line 0\n");
    socket.destroy();
  });

  test("a reader that paused gets its last line as soon as it reads, and the stream outlives a long silence", async ({
    expect,
  }) => {
    const { outlet, text, socket } = await streamAt("/stream/stalled");
    socket.pause();
    outlet.write(FULL);
    await pause(500);
    socket.resume();
    await expect.poll(text).toContain("last line");
    await pause(LONG_MS);
    expect(gone).not.toContain("/stream/stalled");
    outlet.end("after the silence\n");
    await expect.poll(text).toContain("after the silence");
    socket.destroy();
  });

  test("P17: a reader that pauses for long with its connection full lives, and reads all of it", async ({
    expect,
  }) => {
    const { outlet, text, socket } = await streamAt("/stream/full");
    socket.pause();
    outlet.write(FULL);
    await pause(LONG_MS);
    expect(gone).not.toContain("/stream/full");
    socket.resume();
    await expect.poll(text).toContain("last line");
    outlet.end("after the pause\n");
    await expect.poll(text).toContain("after the pause");
    socket.destroy();
  });

  test("P17, P19 a reader that takes nothing of a finished stream is closed", async ({ expect }) => {
    const { outlet, text, socket, closed } = await streamAt("/stream/finished");
    socket.pause();
    outlet.end(FULL);
    await pause(22_000);
    socket.resume();
    await closed;
    expect(text()).not.toContain("last line");
  });
}
