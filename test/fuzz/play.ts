import fc from "fast-check";
import { readKeysFile } from "../../src/installation/keys-file.ts";
import { sendRaw } from "../listeners/raw-client.ts";
import type { ServiceProcess } from "../support/servers/service-process.ts";
import { someRequest } from "./grammar.ts";
import type { Caller, FuzzedRequest } from "./grammar.ts";

const AT_ONCE = 20;
/** What has no answer when so many that came later have theirs gets none. */
const LATER_ONES = 20;

/** What was sent so far, and what came of it. */
export interface Played {
  sent: number;
  /** By status; 0: closed without an answer, null: none. */
  statuses: Map<number | null, number>;
  /** 5xx with what was sent, but 503, and the 505 by which uWebSockets.js refuses what is no HTTP/1.1. */
  faults: { status: number; sent: string }[];
  /** Of the service's process, as its metrics tell it. */
  mostMemoryMb: number;
  mostDelayMs: number;
}

/** A caller with every key of a service that was started without configuration. */
export async function callerOf({ url, demoUrl }: ServiceProcess, dataDir: string): Promise<Caller> {
  const keys = readKeysFile(dataDir);
  const operatorKey = keys?.localOperator?.reveal();
  if (keys === null || operatorKey === undefined) throw new Error(`Cannot fuzz: ${dataDir} has no keys`);
  const { origin } = new URL(demoUrl);
  const { publishableKey } = keys.demo;
  const described = (await (await fetch(`${url}/swagger/openapi.json`)).json()) as { paths: object };
  const visitor = await posted(`${url}/v1/widget/visitors`, { origin, "x-publishable-key": publishableKey });
  const visitorToken = visitor["visitorToken"] ?? "";
  const thread = await posted(`${url}/v1/widget/threads`, { origin, "x-visitor-token": visitorToken });
  return {
    transportKey: keys.harnessApiKey.reveal(),
    operatorKey,
    secretKey: keys.demo.secretKey.reveal(),
    publishableKey,
    origin,
    visitorToken,
    threadId: thread["threadId"] ?? "",
    paths: Object.keys(described.paths),
  };
}

async function posted(url: string, headers: Record<string, string>): Promise<Record<string, string>> {
  return (await (await fetch(url, { method: "POST", headers })).json()) as Record<string, string>;
}

/** Sends rounds of requests from a seed while `goesOn`. */
export async function play(
  { url }: Pick<ServiceProcess, "url">,
  { caller, seed, goesOn }: { caller: Caller; seed: number; goesOn: (played: Played) => boolean },
): Promise<Played> {
  const port = Number(new URL(url).port);
  const played: Played = { sent: 0, statuses: new Map(), faults: [], mostMemoryMb: 0, mostDelayMs: 0 };
  for (let round = 0; goesOn(played); round++) {
    const requests = fc.sample(someRequest(caller), { seed: seed + round, numRuns: AT_ONCE });
    const laterOnesAnswered = askInTurn(url, LATER_ONES);
    const sending = requests.map((request) => send(port, request, laterOnesAnswered, played));
    await Promise.all([...sending, laterOnesAnswered]);
    await measure(url, caller, played);
  }
  return played;
}

/** Resolves when so many good requests, one after another, have been answered. */
async function askInTurn(url: string, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth++) await (await fetch(`${url}/health?live`)).text();
}

async function send(
  port: number,
  { pieces, gapMs }: FuzzedRequest,
  giveUp: Promise<void>,
  played: Played,
): Promise<void> {
  const { status } = await sendRaw({ port, pieces, gapMs, giveUp });
  played.sent += 1;
  played.statuses.set(status, (played.statuses.get(status) ?? 0) + 1);
  if (status !== null && status >= 500 && status !== 503 && status !== 505)
    played.faults.push({ status, sent: Buffer.concat(pieces).toString("latin1") });
}

async function measure(url: string, { transportKey }: Caller, played: Played): Promise<void> {
  const headers = { authorization: `Bearer ${transportKey}` };
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
  played.mostMemoryMb = Math.max(played.mostMemoryMb, value("process_resident_memory_bytes") / 1_048_576);
  played.mostDelayMs = Math.max(played.mostDelayMs, value("nodejs_eventloop_lag_max_seconds") * 1_000);
}
