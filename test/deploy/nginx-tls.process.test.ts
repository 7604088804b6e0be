// For src/deploy/nginx-tls.conf
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/servers/free-port.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { pathOfCommand } from "../support/programs.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { askProxy, collect, openBehind, PROXIES } from "./proxies.ts";

const file = new URL("../../src/deploy/nginx-tls.conf", import.meta.url);
const nginx = PROXIES.find(({ name }) => name === "nginx");

/** The site with a certificate of its own, and its two addresses moved: a test has no port 80. */
function siteOf({ plain, tls, folder }: { plain: number; tls: number; folder: string }): string {
  const places = ["-keyout", join(folder, "key"), "-out", join(folder, "certificate")];
  const subject = ["-days", "1", "-subj", "/CN=chat.example"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...places, ...subject], {
    stdio: "ignore",
  });
  return readFileSync(file, "utf8")
    .replace("listen 80;", `listen 127.0.0.1:${plain};`)
    .replace("listen 443 ssl;", `listen 127.0.0.1:${tls} ssl;`)
    .replaceAll(/ *listen \[::\].*\n/g, "")
    .replace("/etc/letsencrypt/live/chat.example/fullchain.pem", join(folder, "certificate"))
    .replace("/etc/letsencrypt/live/chat.example/privkey.pem", join(folder, "key"));
}

test.skipIf(!nginx?.path || pathOfCommand("openssl") === null)(
  "nginx with TLS, whole: a stream comes line by line, and port 80 leads there",
  async () => {
    if (nginx === undefined) throw new Error("Cannot go on: there is no nginx");
    const [plain, tls] = [await freePort(), await freePort()];
    // Beside its own two places the test's nginx listens where it is waited for.
    const text = `${siteOf({ plain, tls, folder: emptyFolder() })}server { listen 80; }`;
    const behind = await openBehind(nginx, {}, text);
    const { model } = behind;
    onTestFinished(() => behind.close());

    const led = await askProxy(`http://127.0.0.1:${plain}`, {
      path: "/health",
      headers: { host: "chat.example" },
    });
    expect([led.statusCode, led.headers.location]).toEqual([301, "https://chat.example/health"]);

    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request(
        {
          host: "127.0.0.1",
          port: tls,
          path: "/v1/messages",
          method: "POST",
          // It is the test's own certificate.
          rejectUnauthorized: false,
          headers: {
            host: "chat.example",
            authorization: `Bearer ${TEST_KEY}`,
            "content-type": "application/json",
          },
        },
        resolve,
      ).once("error", reject);
      asked.end(JSON.stringify({ threadId: "t1", userId: "u1", text: "Hi" }));
    });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["strict-transport-security"]).toContain("max-age");
    const { bytes, ended } = collect(answer);
    await model.held();
    await expect.poll(() => bytes().toString()).toContain('"text":"Hello"');
    expect(bytes().toString()).not.toContain("there");
    model.release();
    await ended;
    expect(bytes().toString()).toContain('"type":"done"');
  },
);
