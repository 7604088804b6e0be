import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

/**
 * A site of 10,000 pages, read by a service of its own: how long it takes, what it takes of memory, what a question takes then, and
 * what reading it again takes where a hundred pages have changed. `npm run knowledge-load -- PAGES`.
 */
const PAGES = Number(process.argv[2] ?? 10_000);
const CHANGED = Math.ceil(PAGES / 100);
const LINKS = 20;
const LOOK_MS = 1_000;
const COMMAND = "dist/src/cli/chat-agent.js";
const QUESTIONS = 20;

const WORDS =
  "order parcel delivery refund customer account shipping invoice product quality service payment colour size warranty repair".split(
    " ",
  );

let edition = 1;
const changed = new Set<number>();

/** The same page for the same number and edition. */
function pageOf(nth: number): string {
  const seed = changed.has(nth) ? nth + edition * PAGES : nth;
  const words = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => WORDS[(seed * 7 + from * 3 + at * at) % WORDS.length]).join(" ");
  const sections = [1, 2, 3].map(
    (part) => `<h2>Part ${part} of ${nth}</h2><p>${words(part, 60)}. Its sign is sign${seed}x${part}.</p>`,
  );
  const links = Array.from({ length: LINKS }, (_, at) => (nth * LINKS + at + 1) % PAGES);
  return `<html><head><title>Page ${nth}</title></head><body><main><h1>Page ${nth}</h1>${sections.join("")}</main>${links
    .map((to) => `<a href="/p/${to}">${to}</a>`)
    .join(" ")}</body></html>`;
}

let asked = 0;
let unchanged = 0;
const site = createServer((request, response) => {
  asked += 1;
  const [, nth] = /^\/p\/(\d+)$/.exec(request.url ?? "") ?? [];
  if (nth === undefined) return void response.writeHead(404).end();
  const etag = `"${changed.has(Number(nth)) ? edition : 0}"`;
  if (request.headers["if-none-match"] === etag) {
    unchanged += 1;
    return void response.writeHead(304).end();
  }
  response
    .setHeader("content-type", "text/html")
    .setHeader("etag", etag)
    .end(pageOf(Number(nth)));
});
site.listen(0, "127.0.0.1");
await once(site, "listening");
const address = site.address();
const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

const folder = mkdtempSync(join(tmpdir(), "big-site-"));
const sources = [{ name: "site", url: `${origin}/p/0`, depth: 100, every: "7d" }];
const channels = [{ slug: "cli", kind: "transport", knowledge: { sources } }];
writeFileSync(join(folder, "channels.json"), JSON.stringify({ channels }));
const env = {
  ...process.env,
  PORT: "0",
  DATA_DIR: join(folder, "data"),
  CHANNELS_FILE: join(folder, "channels.json"),
  KNOWLEDGE_PRIVATE: "on",
  MODEL: "demo",
};
const service = spawn(process.execPath, [COMMAND, "serve"], { env, stdio: ["ignore", "pipe", "ignore"] });
const url = await new Promise<string>((resolve) => {
  createInterface({ input: service.stdout }).on("line", (line) => {
    if (line.includes('"url":')) resolve((JSON.parse(line) as { url: string }).url);
  });
});
const added = execFileSync(process.execPath, [COMMAND, "operators", "add", "bench", "--role", "admin"], {
  env,
});
const [key] = /op_[\w-]+/.exec(added.toString()) ?? [];

interface Source {
  state: string;
  pages: number;
  passages: number;
  readAt: number | null;
  failed: number;
}

async function operator<Found>(method: string, path: string, body?: object): Promise<Found> {
  const response = await fetch(`${url}/v1/operator/channels/cli/knowledge${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Found;
}

/** Resident memory of the service, MB: now, and the most so far. */
function memory(): { now: number; most: number } {
  const status = readFileSync(`/proc/${service.pid}/status`, "utf8");
  const mb = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024);
  return { now: mb("VmRSS"), most: mb("VmHWM") };
}

async function untilRead(readAt: number | null): Promise<Source> {
  for (;;) {
    await pause(LOOK_MS);
    const source = await operator<Source>("GET", "/site");
    if (source.state === "read" && source.readAt !== readAt) return source;
  }
}

async function questions(): Promise<{ middle: number; longest: number }> {
  const took: number[] = [];
  for (let nth = 0; nth < QUESTIONS; nth += 1) {
    const begun = performance.now();
    const query = `What is the ${WORDS[nth % WORDS.length]} of sign${nth * 31}x2?`;
    await operator("POST", "/search", { query });
    took.push(performance.now() - begun);
  }
  took.sort((one, other) => one - other);
  return { middle: Math.round(took[QUESTIONS / 2] ?? 0), longest: Math.round(took.at(-1) ?? 0) };
}

const seconds = (begun: number) => ((performance.now() - begun) / 1_000).toFixed(1);
const begun = performance.now();
const atStart = memory();
const first = await untilRead(null);
console.log(
  `${first.pages} pages, ${first.passages} passages, ${first.failed} failed: read in ${seconds(begun)} s`,
);
console.log(
  `memory: ${atStart.now} MB at the start, ${memory().most} MB at most, ${memory().now} MB after it`,
);
const firstQuestion = performance.now();
await operator("POST", "/search", { query: "delivery" });
console.log(
  `the first question, with what is left to index: ${seconds(firstQuestion)} s; memory ${memory().now} MB`,
);
const { middle, longest } = await questions();
console.log(`${QUESTIONS} further questions: ${middle} ms in the middle, ${longest} ms at most`);

edition += 1;
for (let nth = 0; nth < CHANGED; nth += 1) changed.add(nth * 100);
[asked, unchanged] = [0, 0];
const again = performance.now();
await operator("POST", "/sync", {});
await untilRead(first.readAt);
console.log(
  `read again with ${CHANGED} changed: ${seconds(again)} s, ${asked} asked, ${unchanged} not changed`,
);
const { items } = await operator<{ items: { url: string }[] }>("POST", "/search", {
  query: `sign${100 + edition * PAGES}x1`,
});
console.log(
  `a changed page is found: ${items[0]?.url === `${origin}/p/100`}; memory ${memory().most} MB at most`,
);

service.kill("SIGTERM");
await once(service, "exit");
site.closeAllConnections();
site.close();
rmSync(folder, { recursive: true });
