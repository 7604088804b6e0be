// For src/deploy/
import { once } from "node:events";
import { createGunzip } from "node:zlib";
import { describe, expect, test } from "vitest";
import { gzipOutlet } from "../../src/http/stream/gzip.ts";
import type { Listen, Outlet } from "../../src/listener.ts";
import { listenNode } from "../../src/listeners/node.ts";
import { listenUws } from "../../src/listeners/uws.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import { askProxy, openProxy, PROXIES } from "./proxies.ts";

const LINES = 20;
/**
 * Linux holds back what a sender says more will follow (MSG_MORE) for 200 ms: tcp(7), TCP_CORK. Of the lines at least one
 * passes in less than half of that, on a busy machine too; with a proxy that says so none does.
 */
const MOST_MS = 100;

/** Milliseconds from the write of each line to its arrival, each written when the one before it has arrived. */
async function delays(url: string, streaming: Promise<Outlet>, headers: Record<string, string>) {
  const answer = await askProxy(url, { path: "/stream", headers });
  const outlet = await streaming;
  const body = answer.headers["content-encoding"] === "gzip" ? answer.pipe(createGunzip()) : answer;
  let text = "";
  body.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  const taken: number[] = [];
  for (let nth = 0; nth < LINES; nth++) {
    const beganAtMs = performance.now();
    outlet.write(`{"type":"delta","text":"${nth}"}\n`);
    while (!text.includes(`"${nth}"}\n`)) await once(body, "data");
    taken.push(performance.now() - beganAtMs);
  }
  outlet.end('{"type":"done"}\n');
  await once(body, "end");
  return taken;
}

describeEachListener("D1: a line passes a proxy when it is written", (kind) => {
  const listen: Listen = kind === "uws" ? listenUws : listenNode;
  for (const proxy of PROXIES) {
    const missing = proxy.path === null ? `: apt-get install -y ${proxy.command}` : "";
    describe.skipIf(proxy.path === null)(`behind ${proxy.name}${missing}`, () => {
      test.each([false, true])("gzipped: %s", async (zips) => {
        let opened = (_outlet: Outlet): void => {};
        const listener = await listen({
          host: "127.0.0.1",
          port: 0,
          // HAProxy asks for /health.
          handler: async ({ path }) =>
            path === "/health"
              ? { status: 200, headers: {}, body: "ok" }
              : {
                  status: 200,
                  headers: {
                    "content-type": "application/x-ndjson",
                    "cache-control": "no-store, no-transform",
                    "x-accel-buffering": "no",
                    ...(zips ? { "content-encoding": "gzip" } : {}),
                  },
                  stream: (outlet) => opened(zips ? gzipOutlet(outlet) : outlet),
                },
        });
        const direct = `http://127.0.0.1:${listener.port}`;
        const { url, close } = await openProxy(proxy, direct);
        try {
          const measured: number[][] = [];
          for (const address of [direct, url]) {
            const streaming = new Promise<Outlet>((resolve) => (opened = resolve));
            measured.push(await delays(address, streaming, zips ? { "accept-encoding": "gzip" } : {}));
          }
          const [quickest = 0, quickestBehind = Infinity] = measured.map((taken) => Math.min(...taken));
          expect(quickestBehind).toBeLessThan(quickest + MOST_MS);
        } finally {
          await close();
          await listener.close();
        }
      });
    });
  }
});
