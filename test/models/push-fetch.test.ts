// For src/models/exchange/push-fetch.ts, src/models/exchange/pushed-response.ts
import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import { openPushFetch } from "../../src/models/exchange/push-fetch.ts";
import type { PushFetch } from "../../src/models/exchange/push-fetch.ts";
import { PushedResponse } from "../../src/models/exchange/pushed-response.ts";
import type { Posted } from "../../src/models/exchange/pushed-response.ts";
import { startRawServer } from "../support/servers/raw-server.ts";

const OK = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const chunked = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const END = "0\r\n\r\n";

function open(silenceMs = 30_000): PushFetch {
  const http = openPushFetch(silenceMs);
  onTestFinished(() => http.close());
  return http;
}

function post(http: PushFetch, url: string, signal: AbortSignal | null = null): Promise<Posted> {
  return http.post({ origin: url, path: "/", headers: ["x-a", "1"] }, "{}", signal);
}

/** An answer whose status is an error's. */
async function refusal(http: PushFetch, url: string): Promise<Response> {
  const response = await post(http, url);
  if (response instanceof PushedResponse) throw new Error("no error");
  return response;
}

/** Everything that the body's reader is told, in words. */
function listen(response: Posted): string[] {
  const told: string[] = [];
  if (!(response instanceof PushedResponse)) throw new Error("not pushed");
  response.read({
    data: (bytes) => void told.push(bytes.toString()),
    end: () => void told.push("END"),
    failed: (error) => void told.push(`FAILED ${error instanceof Error ? error.message : String(error)}`),
  });
  return told;
}

test("a body that came before its reader is told in order, and the rest as it comes", async () => {
  let more = () => {};
  const server = await startRawServer((socket) => {
    socket.write(OK + chunked("a") + chunked("b"));
    more = () => socket.write(chunked("c") + END);
  });
  const response = await post(open(), server.origin);
  await new Promise(setImmediate);
  const told = listen(response);
  await expect.poll(() => told.join()).toBe("a,b");
  more();
  await expect.poll(() => told.join()).toBe("a,b,c,END");
});

test("head: the status is told, 1xx are passed over, a redirect is not followed", async () => {
  const server = await startRawServer((socket, nth) => {
    if (nth === 0)
      socket.write(
        `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 201 Made\r\ncontent-length: 0\r\n\r\n`,
      );
    else
      socket.write(`HTTP/1.1 307 Temporary\r\nlocation: ${server.origin}/other\r\ncontent-length: 0\r\n\r\n`);
  });
  const http = open();
  const response = await post(http, server.origin);
  expect(response.status).toBe(201);
  expect(listen(response)).toEqual(["END"]);
  expect((await refusal(http, server.origin)).status).toBe(307);
});

test("an answer that is no good comes whole, also where its body is cut off", async () => {
  const server = await startRawServer((socket, nth) => {
    socket.write(`HTTP/1.1 429 Slow down\r\ncontent-length: 8\r\nretry-after: 3\r\n\r\ntoo `);
    if (nth === 0) socket.write("many");
    else socket.destroy();
  });
  const http = open();
  const whole = await refusal(http, server.origin);
  expect([whole.status, whole.headers.get("retry-after"), await whole.text()]).toEqual([
    429,
    "3",
    "too many",
  ]);
  const cut = await refusal(http, server.origin);
  expect([cut.status, await cut.text()]).toEqual([429, "too "]);
});

test("G1: an error text without an end is read to a limit, and its connection closes", async () => {
  const server = await startRawServer((socket) => {
    socket.write(`HTTP/1.1 500 No\r\n\r\n${"x".repeat(2_000_000)}`);
  });
  const response = await refusal(open(), server.origin);
  expect([response.status, (await response.text()).length]).toEqual([500, 65_536]);
  await expect.poll(server.closed).toBe(1);
});

const encoded = (coding: string, body: Buffer) =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`),
    body,
  ]);

test.each([
  ["gzip", gzipSync("hello")],
  ["X-GZip", gzipSync("hello")],
  ["identity, gzip", gzipSync("hello")],
  ["deflate", deflateSync("hello")],
  ["deflate", deflateRawSync("hello")],
  ["br", brotliCompressSync("hello")],
])("B11: an answer in %s is decoded, though identity was asked for", async (coding, body) => {
  const server = await startRawServer((socket) => socket.write(encoded(coding, body)));
  const response = await post(open(), server.origin);
  expect(response).toMatchObject({ isEncoded: false });
  const told = listen(response);
  await expect.poll(() => told.at(-1)).toBe("END");
  expect(told.slice(0, -1).join("")).toBe("hello");
});

test("B11: a compressed answer is told as it comes, and one that is cut off as far as it came", async () => {
  let more = () => {};
  const server = await startRawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 100000\r\n\r\n");
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    gzip.on("data", (bytes: Buffer) => socket.write(bytes));
    gzip.write("hel");
    more = () => {
      gzip.write("lo");
      gzip.flush(() => setImmediate(() => socket.resetAndDestroy()));
    };
  });
  const told = listen(await post(open(), server.origin));
  await expect.poll(() => told.join("")).toBe("hel");
  more();
  await expect.poll(() => told.at(-1)).toMatch(/^FAILED /);
  expect(told.slice(0, -1).join("")).toBe("hello");
});

test("B11: an answer that decodes to nothing readable fails, and its connection closes", async () => {
  const server = await startRawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nno zip at all");
  });
  const told = listen(await post(open(), server.origin));
  await expect.poll(() => told).toEqual(["FAILED The model's answer was not understood"]);
  await expect.poll(server.closed).toBe(1);
});

test("B11: a compressed refusal has its text", async () => {
  const body = gzipSync("too many");
  const server = await startRawServer((socket) => {
    socket.write(
      `HTTP/1.1 429 Slow down\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
  });
  expect(await (await refusal(open(), server.origin)).text()).toBe("too many");
});

test("B11: G1: a small body that decodes to a huge one is read as its reader takes it, and no further", async () => {
  const bomb = gzipSync(Buffer.alloc(64_000_000));
  const server = await startRawServer((socket) => {
    socket.write(encoded("gzip", bomb));
  });
  const response = await post(open(), server.origin);
  let bytes = 0;
  let hasEnded = false;
  if (!(response instanceof PushedResponse)) throw new Error("not pushed");
  response.read({
    data: (piece) => {
      bytes += piece.length;
      if (bytes > 1_000_000) response.pause(true);
    },
    end: () => void (hasEnded = true),
    failed: () => {},
  });
  await expect.poll(() => bytes).toBeGreaterThan(1_000_000);
  for (let rounds = 0; rounds < 50; rounds++) await new Promise(setImmediate);
  expect(bytes).toBeLessThan(2_000_000);
  response.pause(false);
  await expect.poll(() => bytes).toBeGreaterThan(1_000_000);
  response.drop();
  const left = bytes;
  for (let rounds = 0; rounds < 50; rounds++) await new Promise(setImmediate);
  expect([bytes, hasEnded]).toEqual([left, false]);
});

test("an encoding that nobody here can decode is said", async () => {
  const server = await startRawServer((socket) => socket.write(encoded("zip, gzip", gzipSync("hello"))));
  expect(await post(open(), server.origin)).toMatchObject({ isEncoded: true, coding: "zip, gzip" });
});

test("no answer: a refused connection, one reset in mid-head, and bytes that are no HTTP reject", async () => {
  const server = await startRawServer((socket, nth) => {
    if (nth === 0) socket.write("HTTP/1.1 200 O");
    if (nth === 0) socket.resetAndDestroy();
    if (nth === 1) socket.write("SSH-2.0-OpenSSH_9.6\r\n");
    if (nth === 2) socket.write("HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n");
  });
  const http = open();
  await expect(post(http, "http://127.0.0.1:1")).rejects.toThrow("ECONNREFUSED");
  await expect(post(http, server.origin)).rejects.toThrow(/ECONNRESET|other side closed/);
  await expect(post(http, server.origin)).rejects.toThrow("Expected HTTP/");
  await expect(post(http, server.origin)).rejects.toThrow("its status is 999");
});

test("a body that is reset fails, after what came", async () => {
  const server = await startRawServer((socket) => {
    socket.write(OK + chunked("a"), () => setImmediate(() => socket.resetAndDestroy()));
  });
  const told = listen(await post(open(), server.origin));
  await expect.poll(() => told.length).toBe(2);
  expect(told).toEqual(["a", expect.stringMatching(/^FAILED /)]);
});

test("connections are used again; one that the server closed meanwhile is not", async () => {
  const server = await startRawServer((socket, nth) => {
    socket.write(OK + chunked("a") + END);
    if (nth === 1) socket.end();
  });
  const http = open();
  for (let n = 0; n < 3; n += 1) {
    const told = listen(await post(http, server.origin));
    await expect.poll(() => told.at(-1)).toBe("END");
    if (n === 1) await expect.poll(server.closed).toBe(1);
  }
  expect(server.connections()).toBe(2);
});

test("aborted before it begins: no request is made", async () => {
  const server = await startRawServer(() => {});
  await expect(post(open(), server.origin, AbortSignal.abort("early"))).rejects.toBe("early");
  expect(server.connections()).toBe(0);
});

test("aborted while it connects: rejects at once", async () => {
  const stop = new AbortController();
  // A documentation address: nobody answers, whatever the network does.
  const answer = post(open(), "http://192.0.2.1", stop.signal);
  stop.abort("while connecting");
  await expect(answer).rejects.toBe("while connecting");
});

test("aborted before the head, and in mid-head: rejects, and the connection closes", async () => {
  for (const sent of ["", "HTTP/1.1 200 OK\r\ncontent-"]) {
    const stop = new AbortController();
    const server = await startRawServer((socket) => socket.write(sent, () => stop.abort("no head yet")));
    await expect(post(open(), server.origin, stop.signal)).rejects.toBe("no head yet");
    await expect.poll(server.closed).toBe(1);
  }
});

test("aborted between head and reader, and in mid-body: fails once with the reason, and the connection closes", async () => {
  for (const isReading of [false, true]) {
    const stop = new AbortController();
    const server = await startRawServer((socket) => socket.write(OK + chunked("a")));
    const response = await post(open(), server.origin, stop.signal);
    const told = isReading ? listen(response) : [];
    if (isReading) await expect.poll(() => told.join()).toBe("a");
    stop.abort("in mid-body");
    if (isReading) expect(told).toEqual(["a", "FAILED in mid-body"]);
    else expect(listen(response).at(-1)).toBe("FAILED in mid-body");
    await expect.poll(server.closed).toBe(1);
    expect(told.filter((each) => each.startsWith("FAILED")).length).toBe(isReading ? 1 : 0);
  }
});

test("aborted after the end: nothing happens", async () => {
  const stop = new AbortController();
  const server = await startRawServer((socket) => socket.write(OK + END));
  const told = listen(await post(open(), server.origin, stop.signal));
  await expect.poll(() => told.join()).toBe("END");
  stop.abort();
  await new Promise(setImmediate);
  expect(told).toEqual(["END"]);
  expect(server.closed()).toBe(0);
});

test("silent before the head, in mid-body and in the text of an error: fails, and the connection closes", async () => {
  const silent = "The model fell silent";
  const silenceMs = 60_000;
  // What was sent is read before the time passes: both ends are in this process.
  const fallSilent = async () => {
    for (let rounds = 0; rounds < 10; rounds++) await new Promise(setImmediate);
    vi.advanceTimersByTime(silenceMs);
  };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    for (const sent of ["", "HTTP/1.1 500 No\r\ncontent-length: 8\r\n\r\ntoo "]) {
      const server = await startRawServer((socket) => socket.write(sent));
      const posted = post(open(silenceMs), server.origin);
      posted.catch(() => {});
      await expect.poll(server.connections).toBe(1);
      await fallSilent();
      await expect(posted).rejects.toThrow(silent);
      await expect.poll(server.closed).toBe(1);
    }
    const server = await startRawServer((socket) => socket.write(OK + chunked("a")));
    const told = listen(await post(open(silenceMs), server.origin));
    await expect.poll(() => told).toEqual(["a"]);
    await fallSilent();
    expect(told).toEqual(["a", `FAILED ${silent}`]);
    await expect.poll(server.closed).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test("left by its reader: a body that does not end closes its connection, and nothing more is told", async () => {
  const server = await startRawServer((socket) => socket.write(OK + chunked("a")));
  const response = await post(open(), server.origin);
  const told = listen(response);
  await expect.poll(() => told.join()).toBe("a");
  if (response instanceof PushedResponse) response.leave();
  await expect.poll(server.closed).toBe(1);
  expect(told).toEqual(["a"]);
});

test("closing ends what is open", async () => {
  const server = await startRawServer((socket) => socket.write(OK + chunked("a")));
  const http = open();
  const told = listen(await post(http, server.origin));
  await expect.poll(() => told.join()).toBe("a");
  await http.close();
  expect(told).toEqual(["a", expect.stringMatching(/^FAILED /)]);
  await expect(post(http, server.origin)).rejects.toThrow("destroyed");
});
