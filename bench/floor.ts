import { createDirectory } from "../src/admission/directory.ts";
import { createVisitors } from "../src/visitors/visitors.ts";
import { readChannelsFile, upsertChannels } from "../src/installation/channels-file.ts";
import { systemClock } from "../src/clock.ts";
import { readConfig } from "../src/config.ts";
import { newId } from "../src/domain/ids.ts";
import { threadUid } from "../src/domain/threads/thread-uid.ts";
import { readVisitorToken } from "../src/domain/people/visitor-token.ts";
import { acceptsGzip } from "../src/http/stream/accepts-gzip.ts";
import { gzipOutlet } from "../src/http/stream/gzip.ts";
import type { HttpAnswer, HttpRequest } from "../src/listener.ts";
import { chooseListen } from "../src/listeners/choose.ts";
import { createLog } from "../src/log.ts";
import { openModel } from "../src/installation/open-model.ts";
import { openStore } from "../src/installation/open-store.ts";
import type { ThreadRecord } from "../src/store.ts";
import { SLUG } from "./rig/askings.ts";
import { claimOf, finishOf } from "./rig/commits.ts";

/**
 * The floor: what a message costs by hand, with the service's own parts. The same listener, the same model client, the
 * same store with the same calls (admit and load in one tick, claim, finish) of the same size. No chart, no validation, no
 * limits, no log; it is correct only while nothing goes wrong.
 *
 * The service's cost above it is the cost of charts, host and checks.
 */
const config = readConfig();
const clock = systemClock;
const log = createLog({ level: "silent", secrets: [], destination: { write() {} } });
const store = await openStore({ config, clock, log });
const model = await openModel(config);
const directory = createDirectory({ store, log });
if (config.channelsFile !== null) {
  await upsertChannels(store, (await readChannelsFile(config.channelsFile, () => null)).channels);
}
await directory.start();
const visitors = createVisitors({ store, clock, ttlMs: config.visitorTtlMs });

/** As long as the service's own instructions and rules. */
const INSTRUCTIONS =
  "You are a helpful assistant in a chat. Answer briefly, in the language of the visitor. ".repeat(6);
const STREAM_HEADERS = {
  "content-type": "application/x-ndjson",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};
interface Said {
  threadId: string;
  text: string;
  userId?: string;
}

async function handle(request: HttpRequest): Promise<HttpAnswer> {
  const { path } = request;
  if (path === "/v1/widget/visitors") return json(await visitors.mint(SLUG));
  if (path === "/v1/widget/threads") return json({ threadId: await newThread(request) });
  const said = JSON.parse((await request.body(1_000_000)).toString()) as Said;
  return path === "/v1/messages" ? sayAsUser(request, said) : sayAsVisitor(request, said);
}

function json(value: object): HttpAnswer {
  return { status: 201, headers: { "content-type": "application/json" }, body: JSON.stringify(value) };
}

function hashOf(request: HttpRequest): string {
  return readVisitorToken(request.headers.get("x-visitor-token") ?? "")?.tokenHash ?? "";
}

function admitVisitor(request: HttpRequest, threadName: string | null) {
  return store.admitVisitor({
    slug: SLUG,
    tokenHash: hashOf(request),
    ttlMs: config.visitorTtlMs,
    threadId: threadName,
  });
}

async function newThread(request: HttpRequest): Promise<string> {
  const userId = (await admitVisitor(request, null))?.user.userId ?? "";
  const uid = newId();
  await store.addThread({ slug: SLUG, userId, threadId: uid, uid, atMs: Date.now() });
  return uid;
}

async function sayAsVisitor(request: HttpRequest, { threadId, text }: Said): Promise<HttpAnswer> {
  const [admission, record] = await Promise.all([
    admitVisitor(request, threadId),
    store.load(threadId, HISTORY_CHARS, "active"),
  ]);
  return answer(request, { uid: threadId, userId: admission?.user.userId ?? "", text, record });
}

async function sayAsUser(request: HttpRequest, { threadId, text, userId = "" }: Said): Promise<HttpAnswer> {
  const uid = threadUid(SLUG, userId, threadId);
  const atMs = Date.now();
  const [admission, record] = await Promise.all([
    store.admitUser({
      slug: SLUG,
      externalId: userId,
      displayName: null,
      newUserId: newId(),
      thread: { name: threadId, newUid: uid },
      creates: true,
      atMs,
    }),
    store.load(uid, HISTORY_CHARS, "active"),
  ]);
  return answer(request, { uid, userId: admission?.user.userId ?? "", text, record });
}

const HISTORY_CHARS = config.agentMaxInputTokens * 5;

async function answer(
  request: HttpRequest,
  about: { uid: string; userId: string; text: string; record: ThreadRecord | null },
): Promise<HttpAnswer> {
  const { text, record } = about;
  const saidAtMs = Date.now();
  const said = {
    ...about,
    runId: newId(),
    fence: `${store.processId}:${newId()}`,
    rev: record?.rev ?? 0,
    readOp: record?.lastOp ?? null,
    messageCount: record?.messageCount ?? 0,
    atMs: saidAtMs,
  };
  const claimed = await store.commit(claimOf(said));
  if (claimed.type !== "committed") throw new Error(`Cannot claim: ${claimed.type}`);

  const past = (record?.tail ?? []).map((message) =>
    message.role === "user"
      ? { role: message.role, content: message.content }
      : { role: message.role, content: message.content, calls: [] },
  );
  const messages = [
    { role: "system" as const, content: INSTRUCTIONS },
    ...past,
    { role: "user" as const, content: text },
  ];
  const asking = { model: "bench", messages, tools: [], maxOutputTokens: null, traceparent: null };
  const compresses = acceptsGzip(request.headers.get("accept-encoding"));
  return {
    status: 200,
    headers: compresses ? { ...STREAM_HEADERS, "content-encoding": "gzip" } : STREAM_HEADERS,
    stream(socket) {
      const outlet = compresses ? gzipOutlet(socket) : socket;
      const wrote = (part: string) => outlet.write(`{"type":"delta","text":${JSON.stringify(part)}}\n`);
      void model.stream(asking, wrote, new AbortController().signal).then(async (turn) => {
        const atMs = Date.now();
        const { input: inputTokens, output: outputTokens } = turn.usage ?? { input: 0, output: 0 };
        const done = { type: "done" as const, elapsedMs: atMs - saidAtMs, inputTokens, outputTokens };
        await store.commit(finishOf(said, { rev: claimed.rev, text: turn.text, done, atMs }));
        outlet.end(`${JSON.stringify(done)}\n`);
      });
    },
  };
}

const { listen } = await chooseListen(config.listener);
const listener = await listen({ host: config.host, port: config.port, handler: handle });
process.stdout.write(`{"url":"http://127.0.0.1:${listener.port}"}\n`);
// Profiles are written only at a clean exit.
process.on("SIGINT", () => process.exit(0));
