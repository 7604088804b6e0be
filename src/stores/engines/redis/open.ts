import { ErrorReply } from "redis";
import { STORE_DEADLINE_MS, StoreUnavailable } from "../../../store.ts";
import type { Engine } from "../../engine.ts";
import { linkToCluster } from "./cluster.ts";
import { lackedCommand } from "./lacked-command.ts";
import type { LinkLog, RedisLink } from "./link.ts";
import { linkToServer } from "./single.ts";
import { createSend } from "./calls.ts";
import type { OnCommand } from "./calls.ts";
import { readCall } from "./encode.ts";
import { redisEngine } from "./engine.ts";
import { checkFormat } from "./format.ts";
import { tables } from "../../tables.ts";

export interface RedisOptions {
  /** One server, or several seed nodes of a cluster. */
  urls: string[];
  /** `replica`: a change counts when a replica has it too (WAIT 1); otherwise its outcome is unknown. */
  durability: "local" | "replica";
  log: LinkLog;
  /** The limit for each call. */
  deadlineMs?: number;
  /** Gets each round trip. */
  onCommand?: OnCommand;
}

/** Connects to Redis, or to a Redis Cluster. Throws if the store there has another format. */
export async function openRedisEngine(options: RedisOptions): Promise<{ engine: Engine; link: RedisLink }> {
  const { urls, log, deadlineMs = STORE_DEADLINE_MS } = options;
  const [url] = urls;
  if (url === undefined) throw new Error("Cannot open the store: no Redis URL was given");
  const reconnected = new Set<() => void>();
  const linked = {
    deadlineMs,
    log: {
      warn: (fields: object, text: string) => log.warn(fields, text),
      connected: () => reconnected.forEach((callback) => callback()),
    },
  };
  const link = urls.length === 1 ? await linkToServer(url, linked) : await linkToCluster(urls, linked);
  try {
    return { link, engine: await engineOver(link, { ...options, reconnected }) };
  } catch (error) {
    link.close();
    throw refused(error);
  }
}

/** The engine behind a link. */
export async function engineOver(
  link: RedisLink,
  options: Omit<RedisOptions, "urls" | "log"> & { reconnected?: Set<() => void> },
): Promise<Engine> {
  const { reconnected = new Set(), deadlineMs = STORE_DEADLINE_MS } = options;
  // Neither waits for a replica nor is measured: every start does it again.
  const send = createSend({ link, deadlineMs, durability: "local" });
  await checkFormat(send);
  // A Redis without functions, or a user who may not load them, is refused by the start.
  const { key } = tables.restoring;
  await send("format", key, readCall([{ read: "exists", key }]), false);
  // A Redis that came back empty has no format; a later start would take that for the first one.
  reconnected.add(() => void checkFormat(send).catch(() => {}));
  return redisEngine(link, { ...options, deadlineMs, reconnected });
}

/** If Redis refused a step of the opening, for example for lack of rights, the error has its answer. */
export function refused(error: unknown): unknown {
  const answer = error instanceof StoreUnavailable ? error.cause : error;
  if (!(answer instanceof ErrorReply)) return error;
  const fact = lackedCommand(answer.message) ?? `it answers ${answer.message}`;
  return new StoreUnavailable("open the store on Redis", { fact, cause: error });
}
