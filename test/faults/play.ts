import type { Line } from "../../machines/line.ts";
import { newId } from "../../src/domain/ids.ts";
import { threadUid } from "../../src/domain/thread-uid.ts";
import type { Store, ThreadRecord } from "../../src/store.ts";
import {
  ask,
  createThread,
  createVisitor,
  identify,
  terminalOf,
  transportHeaders,
  visitorHeaders,
} from "./client.ts";
import type { Heard } from "./client.ts";
import type { EchoModel } from "./echo-model.ts";
import { TRANSPORT } from "./fault-channels.ts";

/** The service did not answer as it does when nothing is wrong. */
export class Broken extends Error {
  readonly status: number | null;

  constructor(what: string, heard: Heard) {
    super(`${what}: status ${heard.status}, ${heard.lines.length} lines`);
    this.name = "Broken";
    this.status = heard.status;
  }
}

/** The client's side of one scenario: what it did, and what it was acknowledged. Rejects with Broken where a step fails. */
export interface Play {
  /** Unique; every text of the play begins with it. */
  readonly id: string;
  readonly model: EchoModel;
  /** Where the service is now. */
  url: string;
  token: string | null;
  /** Of the widget's thread. */
  threadId: string | null;
  /** The threads of the play, by uid. */
  readonly uids: Set<string>;
  readonly attempted: Set<string>;
  readonly acknowledged: Set<string>;
  /** Calls whose result was accepted. */
  readonly answered: Set<string>;
  account: { externalId: string; userId: string | null } | null;
  text(words: string): string;
  /** A message on the server API, read to its end; `accepted` is called as soon as it is stored. */
  tell(words: string, options?: { channel?: string; accepted?: () => void }): Promise<Line>;
  cancel(): Promise<void>;
  /** A visitor with a thread. */
  enter(): Promise<void>;
  register(...tools: string[]): Promise<void>;
  /** A message on the widget API. */
  say(words: string): Promise<Line>;
  /** Answers a tool_call line. */
  answer(call: Line): Promise<Line>;
  identify(externalId: string): Promise<void>;
  /** Resolves when nothing of the play's threads runs or waits in the queue. */
  settled(): Promise<void>;
  /** Resolves when no call of the play's threads is pending any more. */
  expired(): Promise<void>;
}

/** A run that is taken over has begun again after about four seconds; a machine under load may take its time. */
const SETTLE_MS = 30_000;

export function createPlay(parts: { url: string; model: EchoModel; store: Store }): Play {
  const { model, store } = parts;
  const id = newId().slice(0, 8);
  const names = { threadId: `thread-${id}`, userId: `user-${id}` };

  async function send(
    words: string,
    path: string,
    request: { headers: Record<string, string>; body: object; accepted?: () => void },
  ) {
    const text = play.text(words);
    play.attempted.add(text);
    const heard = await ask(play.url, path, {
      headers: request.headers,
      body: { ...request.body, text },
      onStatus(status) {
        if (status !== 200) return;
        play.acknowledged.add(text);
        request.accepted?.();
      },
    });
    return ending("a message", heard);
  }

  function ending(what: string, heard: Heard): Line {
    const terminal = terminalOf(heard);
    const isCut =
      terminal?.type === "error" && (terminal.code === undefined || terminal.code === "interrupted");
    if (!terminal || isCut) throw new Broken(what, heard);
    return terminal;
  }

  async function until(what: string, holds: (record: ThreadRecord) => boolean): Promise<void> {
    const endsAt = performance.now() + SETTLE_MS;
    for (const uid of play.uids) {
      for (;;) {
        const record = await store.load(uid, 1);
        if (!record || holds(record)) break;
        if (performance.now() > endsAt) throw new Error(`Thread ${uid} is not ${what}: ${record.state}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  function widgetHeaders(): Record<string, string> {
    return visitorHeaders(play.token ?? "");
  }

  function expectStatus(what: string, heard: Heard, status: number): void {
    if (heard.status !== status) throw new Broken(what, heard);
  }

  const play: Play = {
    id,
    model,
    url: parts.url,
    token: null,
    threadId: null,
    uids: new Set(),
    attempted: new Set(),
    acknowledged: new Set(),
    answered: new Set(),
    account: null,

    text: (words) => `${id} ${words}`,

    tell(words, { channel = TRANSPORT, accepted } = {}) {
      play.uids.add(threadUid(channel, names.userId, names.threadId));
      return send(words, "/v1/messages", {
        headers: transportHeaders,
        body: { ...names, channel },
        ...(accepted ? { accepted } : {}),
      });
    },

    async cancel() {
      const heard = await ask(play.url, "/v1/messages/cancel", { headers: transportHeaders, body: names });
      expectStatus("a cancel", heard, 204);
    },

    async enter() {
      if (play.token === null) {
        const heard = await createVisitor(play.url);
        expectStatus("a visitor", heard, 201);
        play.token = String(heard.value["visitorToken"]);
      }
      if (play.threadId === null) {
        const heard = await createThread(play.url, play.token);
        expectStatus("a thread", heard, 201);
        play.threadId = String(heard.value["threadId"]);
      }
      play.uids.add(play.threadId);
    },

    async register(...tools) {
      const body = { threadId: play.threadId, webmcpTools: tools.map((name) => ({ name })) };
      expectStatus(
        "a catalog",
        await ask(play.url, "/v1/widget/tools", { headers: widgetHeaders(), body }),
        204,
      );
    },

    say: (words) =>
      send(words, "/v1/widget/messages", { headers: widgetHeaders(), body: { threadId: play.threadId } }),

    async answer(call) {
      if (call.type !== "tool_call") throw new Error(`Cannot answer a ${call.type} line`);
      const { callId, tool } = call;
      const heard = await ask(play.url, "/v1/widget/tool-results", {
        headers: widgetHeaders(),
        body: { threadId: play.threadId, callId, tool, result: "ok" },
        onStatus: (status) => {
          if (status === 200) play.answered.add(callId);
        },
      });
      return ending("a tool result", heard);
    },

    async identify(externalId) {
      play.account ??= { externalId, userId: null };
      const heard = await identify(play.url, play.token ?? "", externalId);
      expectStatus("identify", heard, 200);
      play.account.userId = String(heard.value["userId"]);
    },

    settled: () => until("settled", ({ fence, state }) => fence === null && state !== "running"),
    expired: () => until("at rest", ({ fence, state }) => fence === null && state === "idle"),
  };
  return play;
}
