import { setTimeout as pause } from "node:timers/promises";
import { ask, createThread, createVisitor, terminalOf, visitorHeaders } from "../history/client.ts";
import type { Heard } from "../history/client.ts";
import { OPERATOR, WEB } from "../fault-channels.ts";
import { epochOf } from "../crash/play.ts";
import { untilAnswered } from "../history/workload.ts";
import type { WrittenFleet } from "../history/workload.ts";
import type { Store } from "../../../src/store.ts";

/** Visitors who talk with an operator, through whatever is done to the service meanwhile. */
export interface Talks {
  readonly acknowledged: number;
  stop(): Promise<void>;
  /** What is wrong, after everything has settled; empty where all is well. */
  faults(): Promise<string[]>;
}

interface Talk {
  uid: string;
  token: string;
  acknowledged: string[];
  attempted: Set<string>;
}

const REST_MS = 100;

export async function startTalks(
  fleet: WrittenFleet & { store: Pick<Store, "load"> },
  { threads }: { threads: number },
): Promise<Talks> {
  const faults: string[] = [];
  let isOver = false;
  let asks = 0;
  let acknowledged = 0;
  const url = () => fleet.victims[asks++ % fleet.victims.length]?.url ?? "";

  /** Whatever may be asked again. */
  async function untilTaken(
    make: () => Promise<Heard>,
    fits: (status: number) => boolean,
  ): Promise<Heard | null> {
    for (;;) {
      const heard = await make();
      if (heard.status !== null && fits(heard.status)) return heard;
      if (heard.status !== null && heard.status !== 503) faults.push(`status ${heard.status} ${heard.text}`);
      if (isOver) return null;
      await pause(REST_MS);
    }
  }

  function operate({ uid }: Talk, act: string, body: object): Promise<Heard> {
    const headers = { authorization: `Bearer ${OPERATOR.key.reveal()}` };
    return ask(url(), `/v1/operator/channels/${WEB}/threads/${uid}/${act}`, { headers, body });
  }

  async function open(): Promise<Talk> {
    const visitor = await untilTaken(
      () => createVisitor(url()),
      (status) => status === 201,
    );
    const token = String(visitor?.value["visitorToken"]);
    const thread = await untilTaken(
      () => createThread(url(), token),
      (status) => status === 201,
    );
    return { uid: String(thread?.value["threadId"]), token, acknowledged: [], attempted: new Set() };
  }

  async function talk(one: Talk): Promise<void> {
    const ok = (status: number) => status === 200 || status === 409;
    // 409: it was taken, and the answer was lost.
    await untilTaken(() => operate(one, "take", { epoch: 0 }), ok);
    for (let nth = 1; !isOver; nth++) {
      await write(one, `${one.uid} answer ${nth}`);
      await say(one, `${one.uid} question ${nth}`);
    }
  }

  async function write(one: Talk, text: string): Promise<void> {
    one.attempted.add(text);
    const body = { text, epoch: 1, clientMessageId: text };
    const written = await untilTaken(
      () => operate(one, "messages", body),
      (status) => status === 201,
    );
    if (written) note(one, text);
  }

  /** With an id: who has heard nothing says it again. */
  async function say({ uid, token, ...one }: Talk, text: string): Promise<void> {
    one.attempted.add(text);
    const asking = { headers: visitorHeaders(token), body: { threadId: uid, text, clientMessageId: text } };
    const heard = await untilTaken(
      () => ask(url(), "/v1/widget/messages", asking),
      (status) => status === 200,
    );
    if (!heard) return;
    note({ uid, token, ...one }, text);
    const end = terminalOf(heard);
    if (end?.type === "done" && !end.handledBy) faults.push(`a model has answered ${text}`);
  }

  function note({ acknowledged: told }: Talk, text: string): void {
    told.push(text);
    acknowledged += 1;
  }

  const talks = await Promise.all(Array.from({ length: threads }, open));
  const talking = Promise.all(talks.map(talk));

  async function faultsOf({ uid, acknowledged: told, attempted }: Talk): Promise<string[]> {
    const found: string[] = [];
    const record = await untilAnswered(() => fleet.store.load(uid, 1));
    if (record?.state !== "with_person" || epochOf(record) !== 1) found.push(`${uid} is ${record?.state}`);
    const history = await untilAnswered(() => fleet.store.history(uid, { limit: 100_000, before: null }));
    const texts = history.map(({ content }) => content);
    for (const text of told) if (!texts.includes(text)) found.push(`lost: ${text}`);
    const known = texts.filter((text) => told.includes(text));
    if (new Set(texts).size < texts.length) found.push(`doubled: ${uid}`);
    if (known.join("\n") !== told.join("\n")) found.push(`out of order: ${uid}`);
    for (const { role, author, content } of history) {
      if (!attempted.has(content)) found.push(`phantom: ${content}`);
      if (role === "assistant" && !author) found.push(`a model has spoken: ${content}`);
    }
    return found;
  }

  return {
    get acknowledged() {
      return acknowledged;
    },
    async stop() {
      isOver = true;
      await talking;
    },
    async faults() {
      await fleet.settled(talks.map(({ uid }) => uid));
      return [...faults, ...(await Promise.all(talks.map(faultsOf))).flat()];
    },
  };
}
