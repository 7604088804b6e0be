import { delay } from "./delay.ts";
import type { Shelf } from "./storage.ts";
import { refusedStatus } from "./transport.ts";
import type { Service } from "./transport.ts";

/** Who this browser is to the service, and the conversation it is in. Shared by the tabs of an origin. */
interface Visitor {
  visitorToken: string;
  expiresAt: number;
  threadId?: string;
}

/** Whose request it is, and in which thread. */
export interface Place {
  token: string;
  threadId: string;
}

export interface VisitorOptions {
  service: Service;
  publishableKey: string;
  shelf: Shelf;
  /** One maker at a time among the tabs of an origin. */
  lockName: string;
  onVisitor: (expiresAt: number) => void;
  onThread: (threadId: string) => void;
}

/**
 * The visitor and the thread, made when they are first needed and once in a browser: tabs that ask at the same time
 * wait for the first one. A token is never judged by its expiresAt: its life slides, the service alone knows.
 */
export class VisitorDesk {
  readonly #options: VisitorOptions;

  constructor(options: VisitorOptions) {
    this.#options = options;
  }

  get threadId(): string | null {
    return this.#read()?.threadId ?? null;
  }

  async token(): Promise<string> {
    return this.#read()?.visitorToken ?? (await this.#alone(() => this.#makeVisitor())).visitorToken;
  }

  /** The token and the thread of this browser's conversation; makes what is missing. */
  async thread(): Promise<Place> {
    const known = this.#read();
    if (known?.threadId !== undefined) return { token: known.visitorToken, threadId: known.threadId };
    return await this.#alone(async () => {
      const visitor = await this.#makeVisitor();
      if (visitor.threadId !== undefined) {
        return { token: visitor.visitorToken, threadId: visitor.threadId };
      }
      const response = await this.#options.service({ path: "/threads", token: visitor.visitorToken });
      const { threadId } = (await response.json()) as { threadId: string };
      this.#options.shelf.write("visitor", { ...visitor, threadId });
      this.#options.onThread(threadId);
      return { token: visitor.visitorToken, threadId };
    });
  }

  /**
   * A request in this browser's thread. A token that is no longer known (401) and a thread that is gone (404) are
   * replaced, and the request made once more; `onRenewed` tells that the conversation is a new one.
   */
  async inThread<Answer>(request: (at: Place) => Promise<Answer>, onRenewed: () => void): Promise<Answer> {
    for (let renewed = false; ; renewed = true) {
      let used: string | null = null;
      try {
        const at = await this.thread();
        used = at.token;
        return await request(at);
      } catch (error) {
        const status = renewed ? 0 : refusedStatus(error);
        if (status === 401) this.forget(used);
        else if (status === 404) this.leaveThread();
        else throw error;
        onRenewed();
      }
    }
  }

  /** The next message begins a new conversation. */
  leaveThread(): void {
    const visitor = this.#read();
    if (visitor === null) return;
    const { threadId: _left, ...rest } = visitor;
    this.#options.shelf.write("visitor", rest);
  }

  /** Forgets the visitor; with a token: only where it is still that one (another tab may have made a new one). */
  forget(token: string | null = null): void {
    if (token === null || this.#read()?.visitorToken === token) this.#options.shelf.write("visitor", null);
  }

  async #makeVisitor(): Promise<Visitor> {
    const known = this.#read();
    if (known !== null) return known;
    const { service, publishableKey, shelf, onVisitor } = this.#options;
    const response = await service({ path: "/visitors", publishableKey });
    const visitor = (await response.json()) as Visitor;
    shelf.write("visitor", visitor);
    onVisitor(visitor.expiresAt);
    return visitor;
  }

  #making: Promise<unknown> = Promise.resolve();

  #alone<Value>(make: () => Promise<Value>): Promise<Value> {
    const turn = this.#making.then(() => aloneAmongTabs(this.#options.lockName, make));
    this.#making = turn.catch(() => {});
    return turn;
  }

  #read(): Visitor | null {
    const value = this.#options.shelf.read("visitor") as Partial<Visitor> | null;
    return typeof value?.visitorToken === "string" ? (value as Visitor) : null;
  }
}

/** Tabs in other processes see what was stored a moment later. */
const STORAGE_LAG_MS = 250;

/**
 * One tab at a time. Who had to wait for another tab waits a little longer, so as to see what that one stored. Web
 * Locks are missing on insecure origins; tabs do not know of each other there.
 */
async function aloneAmongTabs<Value>(name: string, make: () => Promise<Value>): Promise<Value> {
  const locks = (navigator as Partial<Navigator>).locks;
  if (locks === undefined) return await make();
  const { held = [], pending = [] } = await locks.query();
  const isContended = [...held, ...pending].some((lock) => lock.name === name);
  const work = async () => {
    if (isContended) await delay(STORAGE_LAG_MS);
    return await make();
  };
  return (await locks.request(name, work)) as Value;
}
