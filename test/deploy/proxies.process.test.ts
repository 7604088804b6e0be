// For src/deploy/
import { connect } from "node:net";
import { createGunzip } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { whyNoNativeBuild } from "../../src/listeners/uws/native-build.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { askProxy, collect, openBehind, PROXIES } from "./proxies.ts";

type Behind = Awaited<ReturnType<typeof openBehind>>;

const message = (headers: Record<string, string> = {}) => ({
  path: "/v1/messages",
  method: "POST",
  headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json", ...headers },
  body: JSON.stringify({ threadId: crypto.randomUUID(), userId: "u1", text: "Hi" }),
});

/** Reads a reply that stays unfinished until its first text has come. Answers its last line. */
async function streams({ url, model }: Behind): Promise<string> {
  const answer = await askProxy(url, message());
  expect(answer.statusCode).toBe(200);
  const { bytes, ended } = collect(answer);
  await model.held();
  // The rest is not written yet: what is here did not wait for it.
  await expect.poll(() => bytes().toString()).toContain('"text":"Hello"');
  expect(bytes().toString()).not.toContain("there");
  model.release();
  await ended;
  return bytes().toString().trimEnd().split("\n").at(-1) ?? "";
}

for (const proxy of PROXIES) {
  const missing = proxy.path === null ? `: apt-get install -y ${proxy.command}` : null;
  describe.skipIf(missing !== null)(`behind ${proxy.name}${missing ?? ""}`, () => {
    let behind: Behind;
    beforeAll(async () => {
      behind = await openBehind(proxy);
    });
    afterAll(() => behind.close());

    test("text arrives while the model still writes", async () => {
      expect(await streams(behind)).toContain('"type":"done"');
    });

    test("gzip arrives while the model still writes, packed once", async () => {
      const { url, model } = behind;
      const answer = await askProxy(url, message({ "accept-encoding": "gzip" }));
      expect(answer.headers["content-encoding"]).toBe("gzip");
      let text = "";
      const unpacked = answer.pipe(createGunzip()).setEncoding("utf8");
      unpacked.on("data", (piece: string) => (text += piece));
      const ended = new Promise((resolve) => unpacked.once("end", resolve));
      await model.held();
      await expect.poll(() => text).toContain('"text":"Hello"');
      model.release();
      await ended;
      expect(text.trimEnd().split("\n").at(-1)).toContain('"type":"done"');
    });

    test("a client's address counts, and not what it writes itself", async () => {
      const { url, service } = behind;
      await expect.poll(() => service.output.stderr).toContain("Demo page");
      const key = /Demo channel\s+(pk_\S+)/.exec(service.output.stderr)?.[1] ?? "";
      const headers = { origin: new URL(service.demoUrl).origin, "x-publishable-key": key };
      const mint = async (from: string, more: Record<string, string> = {}) => {
        const asked = { path: "/v1/widget/visitors", method: "POST", from, headers: { ...headers, ...more } };
        const answer = await askProxy(url, asked);
        answer.resume();
        return answer.statusCode;
      };
      expect(await mint("127.0.0.1")).toBeLessThan(300);
      expect(await mint("127.0.0.1")).toBe(429);
      expect(await mint("127.0.0.1", { "x-forwarded-for": "192.0.2.9" })).toBe(429);
      expect(await mint("127.0.0.2")).toBeLessThan(300);
      expect(await mint("127.0.0.2")).toBe(429);
    });

    test("a site's long cookie does not make a head longer than the service takes", async () => {
      const answer = await askProxy(behind.url, {
        path: "/health",
        headers: { cookie: `a=${"x".repeat(6_000)}` },
      });
      answer.resume();
      expect(answer.statusCode).toBe(200);
    });

    test.runIf(proxy.speaksTo10 === "HTTP/1.1")("a client of HTTP/1.0 is answered", async () => {
      expect(await sayOld(behind.url)).toMatch(/^HTTP\/1\.[01] 200 /);
    });

    test.runIf(proxy.name === "haproxy")(
      "its health check is answered, and keeps the server up",
      async () => {
        const checks = () =>
          behind.service.output.stdout.filter((line) => line.includes('"route":"/health"'));
        const before = checks().length;
        await expect.poll(() => checks().length).toBeGreaterThan(before);
        expect(checks().at(-1)).toContain('"status":200');
        await streams(behind);
      },
    );
  });
}

const [nginx] = PROXIES;
const bare = "server { listen 80; location / { proxy_pass http://127.0.0.1:8080; } }";

test.skipIf(nginx?.path === null || whyNoNativeBuild() !== null)(
  "nginx with a bare proxy_pass, which speaks HTTP/1.0, is answered 505 at once by uWebSockets.js",
  async () => {
    if (nginx === undefined) throw new Error("Cannot go on: there is no proxy");
    const behind = await openBehind(nginx, { LISTENER: "uws" }, bare);
    try {
      const answer = await askProxy(behind.url, message());
      expect(answer.statusCode).toBe(505);
      const { bytes, ended } = collect(answer);
      await ended;
      expect(bytes().toString()).toContain("does not support HTTP/1.0");
    } finally {
      await behind.close();
    }
  },
);

test.skipIf(nginx?.path === null)(
  "nginx with a bare proxy_pass, which speaks HTTP/1.0, streams from node:http",
  async () => {
    if (nginx === undefined) throw new Error("Cannot go on: there is no proxy");
    const behind = await openBehind(nginx, { LISTENER: "node" }, bare);
    try {
      expect(await streams(behind)).toContain('"type":"done"');
      expect(await sayOld(behind.url)).toMatch(/^HTTP\/1\.[01] 200 /);
    } finally {
      await behind.close();
    }
  },
);

/** A GET of /health as clients said it in 1996. */
function sayOld(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.setEncoding("utf8").on("data", (piece) => (text += String(piece)));
    socket.once("end", () => resolve(text));
    socket.once("error", reject);
    socket.write("GET /health HTTP/1.0\r\nHost: chat.example\r\n\r\n");
  });
}
