import type { Line } from "../../../machines/line.ts";
import { newId } from "../../../src/domain/ids.ts";
import { threadUid } from "../../../src/domain/threads/thread-uid.ts";
import type { Store, ThreadRecord } from "../../../src/store.ts";
import type { Exchange, Route } from "../flaky/answer-faults.ts";
import {
  ask,
  createThread,
  createVisitor,
  identify,
  terminalOf,
  transportHeaders,
  visitorHeaders,
} from "../history/client.ts";
import type { Heard } from "../history/client.ts";
import type { EchoModel } from "../victims/echo-model.ts";
import { OPERATOR, TRANSPORT, WEB } from "../fault-channels.ts";

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
  /** Every request so far. */
  readonly exchanges: Exchange[];
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
  /** The history and the last run of the bot's thread. */
  lookUp(): Promise<void>;
  /** Asks whether the user may talk. */
  access(): Promise<void>;
  /** A visitor with a thread. */
  enter(): Promise<void>;
  register(...tools: string[]): Promise<void>;
  /** A message on the widget API. */
  say(words: string): Promise<Line>;
  /** Answers a tool_call line. */
  answer(call: Line): Promise<Line>;
  /** The stream of the widget's thread again, to its end; `accepted` is called when it begins. */
  follow(options: { accepted: () => void }): Promise<void>;
  /** Stops the run of the widget's thread. */
  stop(): Promise<void>;
  /** The history of the widget's thread. */
  read(): Promise<void>;
  identify(externalId: string): Promise<void>;
  /** What an operator did, and what was acknowledged of it; null: no person has to do with this play. */
  people: PeoplesPart | null;
  /** The visitor asks for a person. */
  askPerson(): Promise<void>;
  /** The visitor waits no longer. */
  stopWaiting(): Promise<void>;
  /** A transport asks for a person, who does not come. */
  callPerson(): Promise<void>;
  /** The operator takes the widget's thread, as it stands now. */
  take(): Promise<void>;
  /** The operator writes in it. */
  write(words: string): Promise<void>;
  /** The operator leaves it to the assistant. */
  giveBack(how: "return" | "close"): Promise<void>;
  /** Resolves when nothing of the play's threads runs or waits in the queue. */
  settled(): Promise<void>;
  /** Resolves when no call of the play's threads is pending any more. */
  expired(): Promise<void>;
}

export interface PeoplesPart {
  attempted: Set<string>;
  acknowledged: Set<string>;
  /** The last one that an operator was answered. */
  epoch: number;
}

/** A run that is taken over has begun again after about four seconds; a machine under load may take its time. */
const SETTLE_MS = 30_000;

/** How often a client asks again what was refused for the time being; a message is sent once. */
const TRIES = 10;

export function createPlay(parts: {
  /** Where the service is: asked for each request. */
  url: () => string;
  model: EchoModel;
  store: Store;
}): Play {
  const { url, model, store } = parts;
  const exchanges: Exchange[] = [];
  const id = newId().slice(0, 8);
  const names = { threadId: `thread-${id}`, userId: `user-${id}` };

  async function send(
    words: string,
    path: "/v1/messages" | "/v1/widget/messages",
    request: { headers: Record<string, string>; body: object; accepted?: () => void },
  ) {
    const text = play.text(words);
    play.attempted.add(text);
    // The model asks for a person, whatever becomes of the answer.
    if (words.includes("#calls hand_off")) peoplesPart();
    const heard = await ask(url(), path, {
      headers: request.headers,
      body: { ...request.body, text },
      onStatus(status) {
        if (status !== 200) return;
        play.acknowledged.add(text);
        request.accepted?.();
      },
    });
    exchanges.push({ route: `POST ${path}`, heard });
    return ending("a message", heard);
  }

  /** A request that may be made again: once more whenever the service cannot answer it now. */
  async function request(route: Route, status: number, asked: () => Promise<Heard>): Promise<Heard> {
    for (let tries = 1; ; tries++) {
      const heard = await asked();
      exchanges.push({ route, heard });
      if (heard.status === status) return heard;
      if (heard.status !== 503 || tries === TRIES) throw new Broken(route, heard);
    }
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

  const peoplesPart = () => (play.people ??= { attempted: new Set(), acknowledged: new Set(), epoch: 0 });

  /** As the operator sees it before acting. */
  async function epochNow(): Promise<number> {
    const record = await store.load(play.threadId ?? "", 1);
    return epochOf(record);
  }

  async function operate(act: "take" | "messages" | "return" | "close", status: number, body: object) {
    const path = `/v1/operator/channels/${WEB}/threads/${play.threadId}/${act}`;
    const headers = { authorization: `Bearer ${OPERATOR.key.reveal()}` };
    const route = `POST /v1/operator/channels/{slug}/threads/{id}/${act}` as const;
    // Before it is answered: it may be done and not be.
    const part = peoplesPart();
    const { value } = await request(route, status, () => ask(url(), path, { headers, body }));
    const { epoch } = value;
    if (typeof epoch === "number") part.epoch = Math.max(part.epoch, epoch);
  }

  function widgetHeaders(): Record<string, string> {
    return visitorHeaders(play.token ?? "");
  }

  const ofThread = (end: "stream" | "cancel" | "messages" | "handoff" | "handoff/cancel") =>
    `/v1/widget/threads/${play.threadId}/${end}`;

  const play: Play = {
    id,
    model,
    exchanges,
    token: null,
    threadId: null,
    uids: new Set(),
    attempted: new Set(),
    acknowledged: new Set(),
    answered: new Set(),
    account: null,
    people: null,

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
      const asking = { headers: transportHeaders, body: names };
      await request("POST /v1/messages/cancel", 204, () => ask(url(), "/v1/messages/cancel", asking));
    },

    async lookUp() {
      const asking = { method: "GET", headers: transportHeaders } as const;
      for (const what of ["messages", "stream"] as const) {
        const path = `/v1/threads/${names.threadId}/${what}?userId=${names.userId}`;
        await request(`GET /v1/threads/{threadId}/${what}`, 200, () => ask(url(), path, asking));
      }
      const list = `/v1/threads?userId=${names.userId}`;
      await request("GET /v1/threads", 200, () => ask(url(), list, asking));
    },

    async access() {
      const asking = {
        headers: transportHeaders,
        body: { channel: TRANSPORT, externalUserId: names.userId },
      };
      const { value } = await request("POST /v1/access", 200, () => ask(url(), "/v1/access", asking));
      if (value["allowed"] !== true) throw new Error("Cannot talk: access says so");
    },

    async enter() {
      if (play.token === null) {
        const { value } = await request("POST /v1/widget/visitors", 201, () => createVisitor(url()));
        play.token = String(value["visitorToken"]);
      }
      const { token } = play;
      if (play.threadId === null) {
        const { value } = await request("POST /v1/widget/threads", 201, () => createThread(url(), token));
        play.threadId = String(value["threadId"]);
      }
      play.uids.add(play.threadId);
    },

    async register(...tools) {
      const body = { threadId: play.threadId, webmcpTools: tools.map((name) => ({ name })) };
      const asking = { headers: widgetHeaders(), body };
      await request("POST /v1/widget/tools", 204, () => ask(url(), "/v1/widget/tools", asking));
    },

    say: (words) =>
      send(words, "/v1/widget/messages", { headers: widgetHeaders(), body: { threadId: play.threadId } }),

    async answer(call) {
      if (call.type !== "tool_call") throw new Error(`Cannot answer a ${call.type} line`);
      const { callId, tool } = call;
      const heard = await ask(url(), "/v1/widget/tool-results", {
        headers: widgetHeaders(),
        body: { threadId: play.threadId, callId, tool, result: "ok" },
        onStatus: (status) => {
          if (status === 200) play.answered.add(callId);
        },
      });
      exchanges.push({ route: "POST /v1/widget/tool-results", heard });
      return ending("a tool result", heard);
    },

    async follow({ accepted }) {
      const route = "GET /v1/widget/threads/{id}/stream";
      const onStatus = (status: number) => void (status === 200 && accepted());
      const asking = { method: "GET", headers: widgetHeaders(), onStatus } as const;
      await request(route, 200, () => ask(url(), ofThread("stream"), asking));
    },

    async stop() {
      const asking = { headers: widgetHeaders() };
      const route = "POST /v1/widget/threads/{id}/cancel";
      await request(route, 204, () => ask(url(), ofThread("cancel"), asking));
    },

    async read() {
      const asking = { method: "GET", headers: widgetHeaders() } as const;
      const route = "GET /v1/widget/threads/{id}/messages";
      await request(route, 200, () => ask(url(), ofThread("messages"), asking));
      const list = "/v1/widget/threads";
      await request("GET /v1/widget/threads", 200, () => ask(url(), list, asking));
    },

    async identify(externalId) {
      play.account ??= { externalId, userId: null };
      const { token } = play;
      const route = "POST /v1/channels/{slug}/identify";
      const { value } = await request(route, 200, () => identify(url(), token ?? "", externalId));
      play.account.userId = String(value["userId"]);
    },

    async askPerson() {
      peoplesPart();
      const route = "POST /v1/widget/threads/{id}/handoff";
      await request(route, 204, () => ask(url(), ofThread("handoff"), { headers: widgetHeaders() }));
    },

    async stopWaiting() {
      const route = "POST /v1/widget/threads/{id}/handoff/cancel";
      await request(route, 204, () => ask(url(), ofThread("handoff/cancel"), { headers: widgetHeaders() }));
    },

    async callPerson() {
      peoplesPart();
      const { threadId, userId } = names;
      const asking = { headers: transportHeaders, body: { userId } };
      const route = "POST /v1/threads/{threadId}/handoff";
      await request(route, 204, () => ask(url(), `/v1/threads/${threadId}/handoff`, asking));
    },

    async take() {
      const epoch = await epochNow();
      await operate("take", 200, { epoch });
    },

    async write(words) {
      const text = play.text(words);
      const epoch = await epochNow();
      const { attempted, acknowledged } = peoplesPart();
      attempted.add(text);
      await operate("messages", 201, { text, epoch, clientMessageId: text });
      acknowledged.add(text);
    },

    async giveBack(how) {
      const epoch = await epochNow();
      await operate(how, 200, { epoch });
    },

    settled: () => until("settled", ({ fence, state }) => fence === null && state !== "running"),
    expired: () => until("at rest", ({ fence, state }) => fence === null && state === "idle"),
  };
  return play;
}

/** How often who answers in the thread has changed. */
export function epochOf(record: ThreadRecord | null): number {
  if (!record?.snapshot) return 0;
  const { context } = JSON.parse(record.snapshot) as { context: { epoch?: number } };
  return context.epoch ?? 0;
}
