// For test/faults/
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTcpProxy } from "./tcp-proxy.ts";
import type { TcpProxy } from "./tcp-proxy.ts";

let proxy: TcpProxy;
let stop: () => Promise<void>;

beforeEach(async () => {
  const echo = createServer((socket) => socket.on("error", () => {}).pipe(socket)).listen(0, "127.0.0.1");
  await once(echo, "listening");
  proxy = await startTcpProxy((echo.address() as AddressInfo).port);
  stop = async () => {
    await proxy.close();
    echo.close();
    await once(echo, "close");
  };
});

afterEach(() => stop());

async function dial(): Promise<Socket> {
  const socket = connect(proxy.port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** What comes back until there are so many bytes, or the connection ends. */
async function echoed(socket: Socket, text: string, bytes = text.length): Promise<string> {
  socket.write(text);
  let heard = "";
  try {
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      heard += String(chunk);
      if (heard.length >= bytes) break;
    }
  } catch {
    // Reset: what was heard until then counts.
  }
  return heard;
}

test("fair weather passes everything", async () => {
  const text = "x".repeat(300_000);
  const socket = await dial();
  expect(await echoed(socket, text)).toBe(text);
  socket.destroy();
});

test("a slow network is late, thin and in slices, and loses nothing", async () => {
  await proxy.bring({ latencyMs: 20 });
  const socket = await dial();
  const began = performance.now();
  expect(await echoed(socket, "hello")).toBe("hello");
  expect(performance.now() - began).toBeGreaterThanOrEqual(38);
  await proxy.bring({ sliceBytes: 1 });
  expect(await echoed(socket, "sliced")).toBe("sliced");
  await proxy.bring({ bytesPerSecond: 1_000 });
  const thin = performance.now();
  expect(await echoed(socket, "y".repeat(100))).toBe("y".repeat(100));
  expect(performance.now() - thin).toBeGreaterThan(150);
  socket.destroy();
});

test("a connection is cut after the named byte, in the named direction", async () => {
  await proxy.bring({ cutAfter: { direction: "down", bytes: 3 } });
  expect(await echoed(await dial(), "hello")).toBe("hel");
  await proxy.bring({ cutAfter: { direction: "up", bytes: 0 } });
  expect(await echoed(await dial(), "hello")).toBe("");
});

test("what hangs comes when it is healed", async () => {
  await proxy.bring({ hangs: true });
  const socket = await dial();
  let heard = "";
  const reading = echoed(socket, "hello").then((text) => (heard = text));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(heard).toBe("");
  await proxy.heal();
  expect(await reading).toBe("hello");
  socket.destroy();
});

test("refuses new connections, resets open ones, and takes both again", async () => {
  const socket = await dial();
  await proxy.bring({ refuses: true });
  const reset = once(socket, "error");
  proxy.cut("reset");
  expect(await reset).toMatchObject([{ code: "ECONNRESET" }]);
  await expect(dial()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await proxy.heal();
  const again = await dial();
  expect(await echoed(again, "hello")).toBe("hello");
  again.destroy();
});
