import { PassThrough } from "node:stream";
import { nobody } from "../../threads/dependencies.ts";
import { threadLimitsOf } from "../../threads/thread-limits.ts";
import { createThreads } from "../../threads/threads.ts";
import { createDirectory } from "../../admission/directory.ts";
import type { Directory } from "../../admission/directory.ts";
import type { Agent } from "../../agent.ts";
import { systemClock, systemTimers } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { newId } from "../../domain/ids.ts";
import { commandLineApi } from "../../http/operator-api/command-line.ts";
import type { Knowledge } from "../../knowledge.ts";
import { createKnowledge, withKnowledge } from "../../knowledge/create-knowledge.ts";
import { createReads } from "../../http/reads.ts";
import { changesOver } from "../../http/routes.ts";
import { keptKeys } from "../../installation/kept-keys.ts";
import type { Handler, HttpAnswer, HttpRequest } from "../../listener.ts";
import type { PlainLog } from "../../log.ts";
import type { Store } from "../../store.ts";
import { receiversOf } from "../../domain/channels/messenger.ts";
import { deletedTellings } from "../../webhooks/deleted.ts";
import type { Answer, Ask } from "./ask.ts";
import { commandVariables } from "../channel-variables.ts";
import type { Terminal } from "./terminal.ts";

/** Never answers: a message that waits behind a stopped run starts here, and is stopped too. */
const nobodyThinks: Agent = {
  think: () => new Promise(() => {}),
  useTool: () => new Promise(() => {}),
  close: async () => {},
};

/** What the API notes goes to the command, which prints it. */
const quiet: PlainLog = { info() {}, warn() {}, error() {} };

/** The operator API over a store, in this process: without a listener, a model, or anything that goes on by itself. */
export async function openOperatorApi(terminal: Terminal, store: Store, config: Config): Promise<Ask> {
  const clock = systemClock;
  const log = quiet;
  const directory = createDirectory({ store, log, clock });
  await directory.renew();
  const threads = createThreads({
    store,
    webhooks: (slug) => receiversOf(directory.lastRead(slug) ?? {}),
    tellsDeletion: (deletion) =>
      deletedTellings(store, directory.lastRead(deletion.slug)?.webhooks ?? [], deletion),
    agent: nobodyThinks,
    clock,
    timers: systemTimers,
    newId,
    log,
    observer: nobody,
    limits: threadLimitsOf(config),
  });
  const handler = commandLineApi({
    store,
    threads,
    reads: createReads(() => false),
    directory,
    threadChanges: changesOver({ store, directory, clock, log }),
    knowledge: knowledgeOver(store, directory),
    channelVariables: await commandVariables(terminal, config),
    clock,
    log,
    config,
    keepKeys: keptKeys(config.dataDir),
  });
  return askHandler(handler);
}

/** Searches and shows documents; what is to be read is left to the service. */
function knowledgeOver({ knowledge }: Store, directory: Directory): Knowledge | null {
  if (!knowledge) return null;
  return createKnowledge({
    store: knowledge,
    channels: () => directory.channels().flatMap(withKnowledge),
    reads: () => false,
    open: async () => {
      const { openKnowledge } = await import("../../knowledge/open-knowledge.ts");
      return openKnowledge({
        store: knowledge,
        clock: systemClock,
        timers: systemTimers,
        log: quiet,
        allowsPrivate: false,
      });
    },
    timers: systemTimers,
    log: quiet,
  });
}

function askHandler(handler: Handler): Ask {
  return async ({ method, path, query, body }): Promise<Answer> => {
    const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
    const request: HttpRequest = {
      method,
      path,
      query,
      headers: new Map([["content-type", "application/json"]]),
      address: "127.0.0.1",
      contentLength: bytes.length,
      body: async () => bytes,
    };
    const answer = await handler(request);
    return { status: answer.status, body: bodyOf(answer) };
  };
}

/** The body, which is made as fast as it is read. */
function bodyOf({ body = "", stream }: HttpAnswer): AsyncIterable<Uint8Array> {
  const through = new PassThrough({ highWaterMark: 1 });
  if (stream === undefined) return through.end(body);
  stream({
    write: (chunk) => void through.write(chunk),
    end: (chunk) => void through.end(chunk),
    onDrained: (callback) => void through.once("drain", callback),
    pull(next) {
      through.on("drain", next);
      next();
    },
    cut: (why) => void through.destroy(why instanceof Error ? why : new Error("The answer is not whole")),
    onGone: (callback) => void through.once("close", callback),
  });
  return through;
}
