import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { productById } from "./products.ts";
import { pageAt } from "./shop-html.ts";
import { signIn } from "./sign-in.ts";

export interface DemoPageOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  serviceUrl: string;
  publishableKey: string;
  /** Never leaves this server. null: unknown here, and nobody can sign in. */
  secretKey: string | null;
  slug: string;
}

/** The folder into which src/demo/build.mjs writes the shop's script, stylesheet and pictures. */
const BUILT = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/demo/" : "../../demo/", import.meta.url),
);

const MAX_BODY_BYTES = 4_096;

/**
 * The demo shop, on an origin of its own, as a customer's site would be. It knows only the service's address, and shows
 * that the element works under the strictest page policy. Rejects with EADDRINUSE if the port is taken.
 */
export async function startDemoPage(
  options: DemoPageOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    answer(request, response, options).catch(() => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  server.listen(options.port, options.host);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot open the demo page: no port");
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${address.port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: DemoPageOptions,
): Promise<void> {
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  const { secretKey } = options;
  if (request.method === "POST" && path === "/demo/sign-in" && secretKey !== null) {
    const { status, account } = await signIn(await readJson(request), { ...options, secretKey });
    response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(account === null ? "" : JSON.stringify(account));
    return;
  }
  const found = request.method === "GET" || request.method === "HEAD" ? await fileAt(path, options) : null;
  if (found === null) {
    response.writeHead(404, { "content-type": "text/plain" }).end("Not found");
    return;
  }
  response.writeHead(200, {
    "content-type": found.type,
    "content-security-policy": policyFor(options.serviceUrl),
    "x-content-type-options": "nosniff",
    "referrer-policy": "strict-origin-when-cross-origin",
    "cache-control": "no-cache",
  });
  response.end(found.bytes);
}

async function fileAt(
  path: string,
  options: DemoPageOptions,
): Promise<{ type: string; bytes: string | Buffer } | null> {
  const picture = /^\/pictures\/([\w-]+)\.svg$/.exec(path)?.[1];
  if (picture !== undefined && productById(picture) !== null) {
    return { type: "image/svg+xml", bytes: await readFile(join(BUILT, "pictures", `${picture}.svg`)) };
  }
  if (path === "/shop.css") return { type: "text/css", bytes: await readFile(join(BUILT, "shop.css")) };
  if (path === "/shop.js") return { type: "text/javascript", bytes: await readFile(join(BUILT, "shop.js")) };
  const { serviceUrl, publishableKey, secretKey } = options;
  const html = pageAt(path, { serviceUrl, publishableKey, offersSignIn: secretKey !== null });
  return html === null ? null : { type: "text/html; charset=utf-8", bytes: html };
}

/** Only what the element needs: the service's origin in script-src and connect-src, data: for the visitor's images. */
function policyFor(serviceUrl: string): string {
  const service = new URL(serviceUrl).origin;
  return [
    "default-src 'none'",
    `script-src 'self' ${service}`,
    `connect-src 'self' ${service}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** undefined if it is not JSON, came from another site's form, or is too long. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  if (request.headers["content-type"] !== "application/json") return undefined;
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_BODY_BYTES) return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
