import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { constants, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Refusal } from "../../src/domain/refusal.ts";
import { UNREAD_LIMIT_BYTES } from "../../src/listener.ts";
import { gzipOutlet } from "../../src/http/stream/gzip.ts";
import type { HttpAnswer, HttpRequest, Listen, Listener, Outlet } from "../../src/listener.ts";
import { freePort } from "../support/servers/free-port.ts";
import { atLength } from "../support/lengths.ts";
import { framingRows } from "./framing-rows.ts";
import { sendRaw } from "./raw-client.ts";

const BODY_LIMIT_BYTES = 100_000;

/** Holds an implementation to src/listener.ts. */
export function listenerSuite(kind: Listener["kind"], listen: Listen): void {
  describe(`the listener on ${kind}`, () => {
    let listener: Listener;
    const handled: HttpRequest[] = [];
    /** Paths of the requests whose body came whole. */
    const completed: string[] = [];
    const streams = new Map<string, (outlet: Outlet) => void>();
    /** Of a stream that is not of JSON lines. */
    const streamHeaders = new Map<string, Record<string, string>>();
    const faults: unknown[] = [];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));

    async function answer(request: HttpRequest): Promise<HttpAnswer> {
      handled.push(request);
      const headers: Record<string, string> = { "content-type": "application/json" };
      if (request.path.startsWith("/stream")) {
        return {
          status: 200,
          headers: streamHeaders.get(request.path) ?? { "content-type": "application/x-ndjson" },
          stream: (outlet) => streams.get(request.path)?.(outlet),
        };
      }
      if (request.path.startsWith("/no-content")) return { status: 204, headers: {} };
      if (request.path.startsWith("/held")) await held;
      if (request.path.startsWith("/unread")) return { status: 401, headers: {}, body: "Unauthorized" };
      if (request.path.startsWith("/split")) return { status: 200, headers: { "x-bad": "a\r\nx-evil: b" } };
      if (request.path.startsWith("/throw")) throw new Error("Cannot answer: a test says so");
      try {
        const body = await request.body(BODY_LIMIT_BYTES);
        completed.push(request.path);
        return {
          status: 200,
          headers,
          body: JSON.stringify({ method: request.method, body: body.toString() }),
        };
      } catch (error) {
        if (error instanceof Refusal) return { status: 413, headers };
        throw error;
      }
    }

    beforeAll(async () => {
      const onFault = (error: unknown): void => void faults.push(error);
      listener = await listen({ host: "127.0.0.1", port: 0, handler: answer, onFault });
    });
    afterAll(() => listener.close());

    const url = (path: string): string => `http://127.0.0.1:${listener.port}${path}`;
    const handledAt = (path: string): HttpRequest[] => handled.filter((request) => request.path === path);

    test.concurrent.for(framingRows.map((row, index) => ({ ...row, path: `/row/${index}` })))(
      "$name",
      async (row, { expect: expectHere }) => {
        const bytes = row.bytes.replace("PATH", row.path);
        const outcomes = "uws" in row.expect ? row.expect[kind] : row.expect;
        const { status, text } = await sendRaw({
          port: listener.port,
          pieces: [bytes],
          // Where no answer is one of the outcomes, it is not waited for.
          ...(outcomes.includes(null) ? { patienceMs: 1_500 } : {}),
        });
        const last = text.startsWith("HTTP/1.1 100")
          ? Number(/HTTP\/1\.1 ([2-5]\d\d)/.exec(text)?.[1])
          : status;
        expect(outcomes).toContain(last);
        if (!row.handledInVain?.includes(kind)) {
          const times = typeof row.handled === "number" ? row.handled : row.handled[kind];
          // Where no answer is an outcome, the handler may come later than the patience ends.
          if (times > 0) await expectHere.poll(() => completed).toContain(row.path);
          expect(completed.filter((path) => path === row.path)).toHaveLength(times);
        }
        expect(handledAt("/smuggled")).toHaveLength(0);
        if (last === 200 && row.bytes.includes("hello"))
          expect(text).toContain(`"body":"${row.body ?? "hello"}"`);
      },
    );

    test("a port that it listens on already is refused", async () => {
      // One that was named: the system gives nobody a free one twice.
      const named = { host: "127.0.0.1", port: await freePort(), handler: answer };
      const first = await listen(named);
      await expect(listen(named)).rejects.toThrow(`Cannot listen on 127.0.0.1:${named.port}: `);
      await first.close();
    });

    test("a good POST cut in two at every offset has the same answer", async () => {
      const whole =
        'POST /cut HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"text":"hi"}';
      const cuts = Array.from({ length: whole.length - 1 }, (_, index) => index + 1);
      const outcomes = await Promise.all(
        cuts.map((cut) =>
          sendRaw({
            port: listener.port,
            pieces: [whole.slice(0, cut), whole.slice(cut)],
            gapMs: 60,
          }),
        ),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(cuts.map(() => 200));
      for (const { text } of outcomes) expect(text).toContain(String.raw`{\"text\":\"hi\"}`);
    });

    test.each(["100-continue", "100-Continue", "100-CONTINUE"])(
      "D3: Expect: %s: the body is asked for, and each kind of answer follows",
      async (expectation) => {
        streams.set("/stream/expected", (outlet) => outlet.end("line\n"));
        const ends = {
          "/expected": "}",
          "/stream/expected": "0\r\n\r\n",
          "/no-content/expected": "\r\n\r\n",
        };
        for (const [path, end] of Object.entries(ends)) {
          const socket = connect(listener.port, "127.0.0.1");
          let text = "";
          socket.on("data", (bytes) => (text += bytes.toString("latin1")));
          socket.write(
            `POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: ${expectation}\r\nContent-Length: 5\r\n\r\n`,
          );
          // A stream and a 204 here do not wait for the body.
          await waitFor(() => text.startsWith("HTTP/1.1 100 Continue\r\n\r\n"));
          socket.write("hello");
          const answer = (): string => text.slice("HTTP/1.1 100 Continue\r\n\r\n".length);
          await waitFor(() => answer().endsWith(end));
          expect(answer()).toMatch(/^HTTP\/1\.1 20[04] (?:OK|No Content)\r\n(?:[\w-]+: [^\r\n]+\r\n)+\r\n/);
          if (path === "/expected") expect(answer()).toContain('"body":"hello"');
          socket.destroy();
        }
      },
    );

    test("A8: a chunked body with a trailer, cut in two at every offset, is answered and done, or neither", async () => {
      const [head, last] = [
        "HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "0\r\nX-A: b\r\n\r\n",
      ];
      const cuts = Array.from({ length: last.length }, (_, index) => index);
      const outcomes = await Promise.all(
        cuts.map((cut) =>
          sendRaw({
            port: listener.port,
            pieces: [`POST /trailer/${cut} ${head}${last.slice(0, cut)}`, last.slice(cut)],
            gapMs: 60,
          }),
        ),
      );
      for (const cut of cuts) {
        const isDone = completed.includes(`/trailer/${cut}`);
        expect([cut, outcomes[cut]?.status]).toEqual([cut, isDone ? 200 : 505]);
        if (kind === "node") expect(isDone).toBe(true);
      }
    });

    test("a client that leaves after a chunked request is noticed", async () => {
      let gone = 0;
      const { outlet: opened, resolve } = nextOutlet();
      streams.set("/stream/chunked-left", (outlet) => {
        outlet.onGone(() => gone++);
        resolve(outlet);
      });
      const socket = connect(listener.port, "127.0.0.1");
      socket.write(
        "POST /stream/chunked-left HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      );
      const outlet = await opened;
      socket.destroy();
      while (gone === 0) {
        outlet.write("anybody there?\n");
        await pause(5);
      }
      expect(gone).toBe(1);
    });

    test.each([10, 12, 18])(
      "a Content-Length of %i digits is too large, and not malformed",
      async (digits) => {
        for (const body of ["", "hello"]) {
          const outcome = await sendLength(listener.port, digits, body);
          expect(outcome).toMatchObject({ status: 413, closed: true });
        }
      },
    );

    test("a Content-Length that no 64 bits hold is refused at once", async () => {
      for (const digits of [19, 20, 400]) {
        const outcome = await sendLength(listener.port, digits, "hello");
        expect([400, 413]).toContain(outcome.status);
        expect(outcome.closed).toBe(true);
      }
    });

    test("a body over the limit is refused as soon as it is over, and the connection closes", async () => {
      const declared = await sendRaw({
        port: listener.port,
        pieces: ["POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n"],
        untilClosed: true,
      });
      expect(declared).toMatchObject({ status: 413, closed: true });
      const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;
      const counted = await sendRaw({
        port: listener.port,
        pieces: [
          "POST /big HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
          chunk,
          chunk,
          chunk,
          chunk,
        ],
        untilClosed: true,
      });
      expect(counted).toMatchObject({ status: 413, closed: true });
    });

    test("a client that is still sending a body that nobody wants gets its answer", async () => {
      const response = await fetch(url("/unread"), { method: "POST", body: "x".repeat(1_500_000) });
      expect(response.status).toBe(401);
      expect(await response.text()).toBe("Unauthorized");
    });

    test("of a body that the handler does not read, no more arrives than is held", async () => {
      const piece = Buffer.alloc(65_536, "x");
      const pieces = 1_000;
      let sent = 0;
      const socket = connect(listener.port, "127.0.0.1");
      socket.on("error", () => {});
      const sendNext = (): void => void (++sent < pieces && socket.write(piece, sendNext));
      socket.write(
        `POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: ${pieces * piece.length}\r\n\r\n`,
        sendNext,
      );
      await waitFor(() => handledAt("/held").length === 1);
      // Until nothing moves any more.
      for (let before = -1, still = 0; still < 20 && sent < pieces; await pause(10)) {
        still = sent === before ? still + 1 : 0;
        before = sent;
      }
      expect(sent).toBeLessThan(pieces);
      socket.destroy();
      release();
    });

    test("a second request in the same read closes the connection and is never handled", async () => {
      const second = "GET /pipelined HTTP/1.1\r\nHost: x\r\n\r\n";
      const outcome = await sendRaw({
        port: listener.port,
        pieces: [`GET /first HTTP/1.1\r\nHost: x\r\n\r\n${second}`],
        untilClosed: true,
      });
      expect(outcome).toMatchObject({ status: 0, closed: true });
      expect(handledAt("/pipelined")).toHaveLength(0);
    });

    test("a chunked request is the last of its connection, and so is a POST without a length", async () => {
      for (const head of ["Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "\r\n"]) {
        const outcome = await sendRaw({
          port: listener.port,
          pieces: [`POST /last HTTP/1.1\r\nHost: x\r\n${head}`],
          untilClosed: true,
        });
        expect(outcome).toMatchObject({ status: 200, closed: true });
        expect(outcome.text).toMatch(/\r\nconnection: close\r\n/i);
      }
    });

    test("method and path come as they were sent", async () => {
      const paths = ["/v1/./messages", "//v1", "/V1/Messages", "/a%2Fb%00%ZZ", `/${"x/".repeat(1_500)}`];
      for (const path of paths) {
        await sendRaw({
          port: listener.port,
          pieces: [`GET ${path}?q=%20&q HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`],
          untilClosed: true,
        });
        expect(handledAt(path)[0]).toMatchObject({ method: "GET", query: "q=%20&q", address: "127.0.0.1" });
      }
    });

    test("HEAD has the length and no body, and the connection is usable", async () => {
      const socket = connect(listener.port, "127.0.0.1");
      let text = "";
      socket.on("data", (bytes) => (text += bytes.toString("latin1")));
      socket.write("HEAD /h HTTP/1.1\r\nHost: x\r\n\r\n");
      await waitFor(() => text.endsWith("\r\n\r\n"));
      socket.write("GET /h HTTP/1.1\r\nHost: x\r\n\r\n");
      await waitFor(() => text.endsWith("}"));
      expect(socket.closed).toBe(false);
      socket.destroy();
      const [first, second] = text.split(/(?<=\r\n\r\n)(?=HTTP)/);
      expect(first).toMatch(/^HTTP\/1\.1 200 OK\r\n.*content-length: 27\r\n(?:.*\r\n)?\r\n$/is);
      expect(second).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n\{"method":"GET","body":""\}$/is);
    });

    test("Connection: close is answered, then closed", async () => {
      const outcome = await sendRaw({
        port: listener.port,
        pieces: ["GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
        untilClosed: true,
      });
      expect(outcome).toMatchObject({ status: 200, closed: true });
    });

    test("204 has neither body nor length", async () => {
      const outcome = await sendRaw({
        port: listener.port,
        pieces: ["GET /no-content HTTP/1.1\r\nHost: x\r\n\r\n"],
      });
      expect(outcome).toMatchObject({ status: 204, closed: false });
      expect(outcome.text).not.toMatch(/content-length|transfer-encoding/i);
    });

    test("P30: a header that would split the answer, and a handler that throws, are 500, told, and end that request only", async () => {
      for (const path of ["/split", "/throw"]) {
        faults.length = 0;
        const outcome = await sendRaw({
          port: listener.port,
          pieces: [`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`],
          untilClosed: true,
        });
        expect(outcome).toMatchObject({ status: 500, closed: true });
        expect(outcome.text).not.toContain("evil");
        expect(faults).toEqual([expect.any(Error)]);
      }
      expect((await fetch(url("/after"))).status).toBe(200);
    });

    test("P30: a stream whose function throws is cut, and told", async () => {
      faults.length = 0;
      streams.set("/stream/throws", () => {
        throw new Error("Cannot stream: a test says so");
      });
      const outcome = await sendRaw({
        port: listener.port,
        pieces: ["GET /stream/throws HTTP/1.1\r\nHost: x\r\n\r\n"],
        untilClosed: true,
      });
      expect(outcome.closed).toBe(true);
      expect(faults).toEqual([new Error("Cannot stream: a test says so")]);
    });

    test("a body that ends early tells the handler that the client is gone", async () => {
      const before = listener.inFlight();
      const socket = connect(listener.port, "127.0.0.1");
      socket.write("POST /short HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhello");
      await waitFor(() => handledAt("/short").length === 1);
      expect(listener.inFlight()).toBe(before + 1);
      socket.destroy();
      await waitFor(() => listener.inFlight() === before);
      expect(completed).not.toContain("/short");
    });

    test("status and headers of a stream leave before its first line", async () => {
      const { outlet: opened, resolve } = nextOutlet();
      streams.set("/stream/late", resolve);
      const response = await fetch(url("/stream/late"), { method: "POST", body: "{}" });
      expect(response.status).toBe(200);
      const outlet = await opened;
      outlet.write('{"a":1}\n');
      outlet.end('{"b":2}\n');
      const lines = (await response.text()).split("\n");
      expect(lines.pop()).toBe("");
      expect(lines.map((line) => JSON.parse(line))).toEqual([{ a: 1 }, { b: 2 }]);
    });

    test("chunks of one tick leave in one write, from a later microtask too", async () => {
      streams.set("/stream/ticks", (outlet) => {
        outlet.write("one\n");
        void Promise.resolve().then(() => {
          outlet.write(Buffer.from("two\n"));
          outlet.end("three\n");
        });
      });
      const { text } = await sendRaw({
        port: listener.port,
        pieces: ["GET /stream/ticks HTTP/1.1\r\nHost: x\r\n\r\n"],
      });
      expect(text).toContain("\r\ne\r\none\ntwo\nthree\n\r\n");
    });

    const live = [
      { name: "lines of JSON", type: "application/x-ndjson", zips: false, lines: ['{"a":1}\n', '{"b":2}\n'] },
      { name: "events", type: "text/event-stream", zips: false, lines: ["data: 1\n\n", "data: 2\n\n"] },
      { name: "gzipped lines", type: "application/x-ndjson", zips: true, lines: ['{"a":1}\n', '{"b":2}\n'] },
    ];
    test.each(live)(
      "D2: $name: each is in a whole chunk when it is written",
      async ({ type, zips, lines }) => {
        const path = `/stream/whole-chunks/${type}/${zips}`;
        const { outlet: opened, resolve } = nextOutlet();
        streams.set(path, resolve);
        streamHeaders.set(path, {
          "content-type": type,
          ...(zips ? { "content-encoding": "gzip" } : {}),
        });
        const socket = connect(listener.port, "127.0.0.1");
        const pieces: Buffer[] = [];
        socket.on("data", (bytes: Buffer) => pieces.push(bytes));
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
        const socketOutlet = await opened;
        const outlet = zips ? gzipOutlet(socketOutlet) : socketOutlet;
        /** What a client knows that takes a chunk only with its CRLF. */
        const known = (): string => {
          const body = wholeChunks(Buffer.concat(pieces));
          return (zips ? unzipped(body) : body).toString();
        };
        for (const line of lines) {
          outlet.write(line);
          await waitFor(() => known().includes(line));
        }
        outlet.end("the last\n\n");
        await waitFor(() => Buffer.concat(pieces).subarray(-5).toString() === "0\r\n\r\n");
        // Nothing follows the last one, and what is between the others means nothing: no white space comes into a line.
        expect(known()).toMatch(/}\n ?the last\n\n$|\d\n\n\n?the last\n\n$/);
        expect(
          known()
            .split("\n")
            .map((line) => line.trim())
            .filter(Boolean),
        ).toEqual([...lines, "the last"].map((line) => line.trim()));
        socket.destroy();
      },
    );

    test("D2: a stream that is sent as fast as it is read has no byte more than was written", async () => {
      streams.set("/stream/exact", (outlet) => {
        const rest = ['{"a":1}\n', '{"b":2}\n'];
        outlet.pull(() => {
          const line = rest.shift();
          if (line === undefined) outlet.end();
          else outlet.write(line);
        });
      });
      const response = await fetch(url("/stream/exact"));
      expect(await response.text()).toBe('{"a":1}\n{"b":2}\n');
    });

    test("onGone is called once when the client leaves, at once for who asks later, and never after end", async () => {
      let gone = 0;
      const { outlet: opened, resolve } = nextOutlet();
      streams.set("/stream/left", (outlet) => {
        outlet.onGone(() => gone++);
        outlet.write("hello\n");
        resolve(outlet);
      });
      const socket = connect(listener.port, "127.0.0.1");
      socket.write("GET /stream/left HTTP/1.1\r\nHost: x\r\n\r\n");
      socket.once("data", () => socket.resetAndDestroy());
      const outlet = await opened;
      await waitFor(() => gone === 1);
      outlet.write("nobody reads this\n");
      outlet.onGone(() => gone++);
      expect(gone).toBe(2);
      outlet.end();
      await pause(20);
      expect(gone).toBe(2);
    });

    test("P17: a reader that never reads is cut off once, with no more than the limit unread", async () => {
      let gone = 0;
      let written = 0;
      const line = `${"x".repeat(8_191)}\n`;
      streams.set("/stream/flood", (outlet) => {
        const timer = setInterval(() => {
          for (let count = 0; count < 16; count++) outlet.write(line);
          written += 16 * line.length;
        }, 1);
        outlet.onGone(() => {
          gone++;
          clearInterval(timer);
        });
      });
      const socket = connect(listener.port, "127.0.0.1");
      socket.on("error", () => {});
      socket.pause();
      socket.write("GET /stream/flood HTTP/1.1\r\nHost: x\r\n\r\n");
      await waitFor(() => gone > 0);
      // What the kernel takes for a connection comes on top.
      expect(written).toBeLessThan(UNREAD_LIMIT_BYTES + 12_000_000);
      await pause(50);
      expect(gone).toBe(1);
      socket.destroy();
    });

    test("wherever back-pressure begins, the last line arrives as soon as the reader reads", async () => {
      // Around what the kernel takes of a connection whose reader pauses: somewhere here the last slice is the first to stall.
      const step = atLength(50_000, 500_000);
      for (let bytes = 200_000; bytes < 6_000_000; bytes += step) {
        const { outlet: opened, resolve } = nextOutlet();
        streams.set("/stream/edge", resolve);
        const socket = connect(listener.port, "127.0.0.1");
        socket.pause();
        socket.write("GET /stream/edge HTTP/1.1\r\nHost: x\r\n\r\n");
        const outlet = await opened;
        outlet.write(`${"x".repeat(bytes)}\nlast line\n`);
        await pause(10);
        let tail = "";
        socket.on(
          "data",
          (read) => (tail = (tail + read.toString("latin1", Math.max(0, read.length - 50))).slice(-50)),
        );
        socket.resume();
        await waitFor(() => tail.includes("last line"));
        expect(tail).toContain("last line");
        socket.destroy();
      }
    });

    test("stopAccepting() lets a stream go on and its connection end; close() ends every connection", async () => {
      const own = await listen({ host: "127.0.0.1", port: 0, handler: answer });
      const outlets: Outlet[] = [];
      streams.set("/stream/drain", (outlet) => void outlets.push(outlet));
      const response = await fetch(`http://127.0.0.1:${own.port}/stream/drain`);
      expect(own.inFlight()).toBe(1);
      own.stopAccepting();
      await expect(fetch(`http://127.0.0.1:${own.port}/x`)).rejects.toThrow("fetch failed");
      outlets[0]?.end("done\n");
      expect((await response.text()).trim()).toBe("done");
      await waitFor(() => own.inFlight() === 0);
      await own.close();
    });

    test("P29: what is answered after stopAccepting() closes its connection", async () => {
      let open = (): void => {};
      const opened = new Promise<void>((resolve) => (open = resolve));
      let asked = 0;
      const handler = async (): Promise<HttpAnswer> => {
        if (asked++ > 0) await opened;
        return { status: 200, headers: {}, body: "fine" };
      };
      const own = await listen({ host: "127.0.0.1", port: 0, handler });
      const pieces = ["GET /x HTTP/1.1\r\nHost: x\r\n\r\n"];
      const before = await sendRaw({ port: own.port, pieces });
      expect(before).toMatchObject({ status: 200, closed: false });
      expect(before.text).not.toMatch(/connection: close/i);
      const answering = sendRaw({ port: own.port, pieces });
      await waitFor(() => asked === 2);
      own.stopAccepting();
      open();
      const after = await answering;
      expect(after).toMatchObject({ status: 200 });
      expect(after.text).toMatch(/connection: close/i);
      await own.close();
    });
  });
}

function sendLength(port: number, digits: number, body: string) {
  const head = `POST /big HTTP/1.1\r\nHost: x\r\nContent-Length: 1${"0".repeat(digits - 1)}\r\n\r\n`;
  return sendRaw({ port, pieces: [head + body], untilClosed: true });
}

/** The body as far as it has come in chunks that are whole: with the CRLF behind their data. */
function wholeChunks(answer: Buffer): Buffer {
  const whole: Buffer[] = [];
  let at = answer.indexOf("\r\n\r\n") + 4;
  for (;;) {
    const sizeEnd = answer.indexOf("\r\n", at);
    const bytes = Number.parseInt(answer.toString("latin1", at, sizeEnd), 16);
    const end = sizeEnd + 2 + bytes;
    if (at < 4 || sizeEnd === -1 || !(bytes > 0) || answer.toString("latin1", end, end + 2) !== "\r\n") {
      return Buffer.concat(whole);
    }
    whole.push(answer.subarray(sizeEnd + 2, end));
    at = end + 2;
  }
}

/** What a decoder makes of the beginning of a gzip stream. */
function unzipped(bytes: Buffer): Buffer {
  return bytes.length === 0 ? bytes : gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
}

function nextOutlet(): { outlet: Promise<Outlet>; resolve: (outlet: Outlet) => void } {
  let resolve = (_outlet: Outlet): void => {};
  const outlet = new Promise<Outlet>((done) => (resolve = done));
  return { outlet, resolve: (opened) => resolve(opened) };
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(5);
}
