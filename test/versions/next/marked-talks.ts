import { setTimeout as pause } from "node:timers/promises";
import type { Line } from "../../../machines/line.ts";
import {
  ask,
  createThread,
  createVisitor,
  terminalOf,
  textOf,
  visitorHeaders,
} from "../../faults/history/client.ts";
import type { Heard } from "../../faults/history/client.ts";
import { replyTo } from "../../faults/victims/echo-model.ts";
import type { Instance, MixedFleet } from "../fleet/mixed-fleet.ts";
import { MARK } from "./changes.ts";

/**
 * Clients whose messages are mostly marked: their threads go back and forth between what every instance reads and what only
 * those of the next version do. Whoever is answered 503 asks again, at any instance.
 */
export interface MarkedTalks {
  /** Resolves when each client's last message is over. */
  stop(): Promise<MarkedCounts>;
  faults(): Promise<string[]>;
}

export interface MarkedCounts {
  acknowledged: number;
  /** Answered by an instance of the present version that left the thread alone. */
  leftAlone: number;
  /** Streams of the next version with its lines. */
  noted: number;
}

interface Talk {
  uid: string;
  headers: Record<string, string>;
  said: string[];
}

const REST_MS = 100;
const HANGS_MS = 60_000;
/** Every line of the present version, and no other. */
const KNOWN: ReadonlySet<string> = new Set(["delta", "step", "tool_call", "done", "error"]);

/** Not of the next version's own type, which this one would take for the end. */
function endOf(heard: Heard): Line | undefined {
  return terminalOf({ ...heard, lines: heard.lines.filter(({ type }) => KNOWN.has(type)) });
}

export async function startMarkedTalks(
  fleet: Pick<MixedFleet, "victims" | "read" | "settled">,
  count: number,
): Promise<MarkedTalks> {
  const counts: MarkedCounts = { acknowledged: 0, leftAlone: 0, noted: 0 };
  const wrong: string[] = [];
  let stopped = false;

  function any(): Instance {
    const instance = fleet.victims[Math.floor(Math.random() * fleet.victims.length)];
    if (!instance) throw new Error("Cannot talk: there is no instance");
    return instance;
  }

  /** Until an instance takes it; each of these requests may be made twice. */
  async function surely(what: string, request: (url: string) => Promise<Heard>): Promise<Heard> {
    for (;;) {
      const { url, version } = any();
      const beganAt = performance.now();
      const heard = await request(url);
      if (performance.now() - beganAt > HANGS_MS) wrong.push(`hangs: ${what}`);
      judge(what, heard, version);
      if (heard.status !== null && heard.status !== 503) return heard;
      await pause(REST_MS);
    }
  }

  function judge(what: string, { status, lines, retryAfter }: Heard, version: Instance["version"]): void {
    if (status !== null && ![200, 201, 204, 503].includes(status)) wrong.push(`status ${status}: ${what}`);
    if (status === 503 && retryAfter === undefined) wrong.push(`503 without a time to come again: ${what}`);
    if (status === 503 && version === "present") counts.leftAlone += 1;
    const unknown = lines.filter(({ type }) => !KNOWN.has(type));
    if (unknown.length > 0 && version === "present") wrong.push(`a line that nobody knows: ${what}`);
    if (unknown.length > 0) counts.noted += 1;
  }

  async function open(): Promise<Talk> {
    const token = String((await surely("a visitor", createVisitor)).value["visitorToken"]);
    const thread = await surely("a thread", (url) => createThread(url, token));
    return { uid: String(thread.value["threadId"]), headers: visitorHeaders(token), said: [] };
  }

  async function talk(one: Talk): Promise<void> {
    const { uid: threadId, headers, said } = one;
    for (let nth = 1; !stopped; nth++) {
      // With an id: who has heard nothing says it again.
      const text = `${threadId} ${nth}${nth % 3 === 0 ? "" : ` ${MARK}`}`;
      const body = { threadId, text, clientMessageId: `m${nth}` };
      const heard = await surely(text, (url) =>
        ask(url, "/v1/widget/messages", { headers, body, withinMs: HANGS_MS + REST_MS }),
      );
      said.push(text);
      counts.acknowledged += 1;
      const end = endOf(heard);
      if (end?.type === "done" && textOf(heard) !== replyTo(text)) wrong.push(`another text: ${text}`);
      if (end?.type !== "done") await toTheEnd(one, text);
    }
  }

  async function toTheEnd({ uid, headers }: Talk, text: string): Promise<void> {
    for (;;) {
      const path = `/v1/widget/threads/${uid}/stream`;
      const heard = await surely(`the end of ${text}`, (url) =>
        ask(url, path, { method: "GET", headers, withinMs: HANGS_MS + REST_MS }),
      );
      if (heard.status === 204 || endOf(heard)?.type === "done") return;
      await pause(REST_MS);
    }
  }

  const talks = await Promise.all(Array.from({ length: count }, open));
  const talking = Promise.all(talks.map(talk));

  return {
    async stop() {
      stopped = true;
      await talking;
      return counts;
    },

    async faults() {
      await fleet.settled(talks.map(({ uid }) => uid));
      for (const { uid, said } of talks) {
        const items = await fleet.read.items(uid);
        const expected = said.flatMap((text) => [text, replyTo(text)]);
        const held = items.map(({ content }) => content);
        if (held.join("\n") !== expected.join("\n"))
          wrong.push(`${uid} holds ${JSON.stringify(held)} of ${JSON.stringify(said)}`);
        for (const [nth, { role, mark }] of items.entries()) {
          if (role === "assistant" && mark !== items[nth - 1]?.mark) wrong.push(`a mark is lost in ${uid}`);
        }
      }
      return wrong;
    },
  };
}
