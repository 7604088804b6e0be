import { deserialize, serialize } from "node:v8";
import { messageOf } from "../../../errors.ts";
import { StoreUnavailable } from "../../../store.ts";
import type { Engine, Member, Pair } from "../../engine.ts";

/**
 * An engine that another process uses, call by call: what `store` commands, which work on all data, need of a file that only
 * its service may open. Both sides are of one installation.
 */

/** The engine's calls, each with one answer. A walk is a number; `next` gives its next page, null at its end. */
interface LentEngine extends Pick<Engine, "read" | "apply" | "health"> {
  tell(name: string, text: string): void;
  hashPages(key: string): number;
  memberPages(key: string): number;
  keys(prefix: string): number;
  next(walk: number): Promise<unknown[] | null>;
}

type Call = keyof LentEngine;
type Answered = { value: unknown } | { failure: string; isOutage: boolean };

/** Walks that are remembered: a process that was killed leaves some. */
const MOST_WALKS = 10_000;

/** Answers the calls of a process that uses the engine. */
export function lend(engine: Engine): (call: Uint8Array) => Promise<Uint8Array> {
  const walks = new Map<number, AsyncIterator<unknown[]>>();
  let walked = 0;
  const begin = (pages: AsyncIterable<unknown[]>) => {
    walks.set((walked += 1), pages[Symbol.asyncIterator]());
    const [oldest] = walks.keys();
    if (walks.size > MOST_WALKS && oldest !== undefined) walks.delete(oldest);
    return walked;
  };
  const lent: LentEngine = {
    read: (...asked) => engine.read(...asked),
    apply: (...asked) => engine.apply(...asked),
    health: () => engine.health(),
    tell: (...told) => engine.tell(...told),
    hashPages: (key) => begin(engine.hashPages(key)),
    memberPages: (key) => begin(engine.memberPages(key)),
    keys: (prefix) => begin(engine.keys(prefix)),
    async next(walk) {
      const pages = walks.get(walk);
      if (pages === undefined) throw new StoreUnavailable("go on with a walk");
      const { done, value } = await pages.next();
      if (done) walks.delete(walk);
      return done ? null : value;
    },
  };
  return async (call) => serialize(await answer(lent, deserialize(call) as [Call, never[]]));
}

async function answer(lent: LentEngine, [call, given]: [Call, never[]]): Promise<Answered> {
  try {
    const method = lent[call] as (...all: never[]) => unknown;
    return { value: await method(...given) };
  } catch (error) {
    return { failure: messageOf(error), isOutage: error instanceof StoreUnavailable };
  }
}

/** The engine of another process. It hears nothing: who uses it acts at once, and is gone. */
export function borrowed(send: (call: Uint8Array) => Promise<Uint8Array>, now: () => number): Engine {
  async function ask<Of extends Call>(call: Of, ...given: unknown[]) {
    const answered = deserialize(await send(serialize([call, given]))) as Answered;
    if ("value" in answered) return answered.value as never;
    if (!answered.isOutage) throw new Error(answered.failure);
    throw new StoreUnavailable("use the store of the service", { cause: new Error(answered.failure) });
  }

  async function* pages<Item>(call: "hashPages" | "memberPages" | "keys", of: string): AsyncIterable<Item[]> {
    const walk: number = await ask(call, of);
    for (let page: Item[] | null; (page = await ask("next", walk)) !== null;) yield page;
  }

  return {
    kind: "embedded",
    read: (...asked) => ask("read", ...asked),
    apply: (...asked) => ask("apply", ...asked),
    hashPages: (key) => pages<Pair>("hashPages", key),
    memberPages: (key) => pages<Member>("memberPages", key),
    keys: (prefix) => pages<string>("keys", prefix),
    timeMs: now,
    readTime: () => Promise.resolve(),
    tell: (...told) => void ask("tell", ...told).catch(() => {}),
    listen: () => Promise.resolve(),
    onReconnect: () => () => {},
    health: () => ask("health"),
    close: () => Promise.resolve(),
  };
}
