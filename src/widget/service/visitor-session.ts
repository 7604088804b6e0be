import type { JsonStorage } from "./json-storage.ts";
import { withTabLock } from "./tab-lock.ts";
import { refusedStatus } from "./widget-api.ts";
import type { WidgetApi } from "./widget-api.ts";

/** What a request in a thread needs. */
export interface ThreadAccess {
  token: string;
  threadId: string;
}

/** Who this browser is to the service, and the thread of its conversation. Shared by the tabs of an origin. */
interface StoredVisitor {
  visitorToken: string;
  expiresAt: number;
  threadId?: string;
}

export interface VisitorSessionOptions {
  api: WidgetApi;
  publishableKey: string;
  storage: JsonStorage;
  /** Held while a visitor or a thread is created. */
  lockName: string;
  onVisitor: (expiresAt: number) => void;
  onThread: (threadId: string) => void;
}

/**
 * The visitor and the thread of this browser, created when first needed. Tabs that ask at the same time wait for the
 * first one. expiresAt is never checked here: the service extends a token's life, so only the service knows it.
 */
export class VisitorSession {
  readonly #options: VisitorSessionOptions;
  #creating: Promise<unknown> = Promise.resolve();

  constructor(options: VisitorSessionOptions) {
    this.#options = options;
  }

  get threadId(): string | null {
    return this.#read()?.threadId ?? null;
  }

  async token(): Promise<string> {
    return this.#read()?.visitorToken ?? (await this.#alone(() => this.#createVisitor())).visitorToken;
  }

  /** Creates what is missing. */
  async thread(): Promise<ThreadAccess> {
    return accessOf(this.#read()) ?? (await this.#alone(() => this.#createThread()));
  }

  /**
   * Makes a request in the thread. An unknown token (401) or thread (404) is replaced, and the request made once more;
   * `onRenewed` reports that the conversation is a new one.
   */
  async inThread<Answer>(
    request: (thread: ThreadAccess) => Promise<Answer>,
    onRenewed: () => void,
  ): Promise<Answer> {
    for (let isRenewed = false; ; isRenewed = true) {
      let usedToken: string | null = null;
      try {
        const thread = await this.thread();
        usedToken = thread.token;
        return await request(thread);
      } catch (error) {
        const status = isRenewed ? 0 : refusedStatus(error);
        if (status === 401) this.forget(usedToken);
        else if (status === 404) this.leaveThread();
        else throw error;
        onRenewed();
      }
    }
  }

  /** The next message begins a new thread. */
  leaveThread(): void {
    const visitor = this.#read();
    if (visitor === null) return;
    const { threadId: _left, ...rest } = visitor;
    this.#options.storage.write("visitor", rest);
  }

  /** Forgets the visitor. With a token: only the visitor with that token, as another tab may have stored a new one. */
  forget(token: string | null = null): void {
    if (token === null || this.#read()?.visitorToken === token) this.#options.storage.write("visitor", null);
  }

  async #createThread(): Promise<ThreadAccess> {
    const { api, storage, onThread } = this.#options;
    const visitor = await this.#createVisitor();
    const known = accessOf(visitor);
    if (known !== null) return known;
    const token = visitor.visitorToken;
    const response = await api({ path: "/threads", token });
    const { threadId } = (await response.json()) as { threadId: string };
    storage.write("visitor", { ...visitor, threadId });
    onThread(threadId);
    return { token, threadId };
  }

  /** Or the one that another caller created meanwhile. */
  async #createVisitor(): Promise<StoredVisitor> {
    const known = this.#read();
    if (known !== null) return known;
    const { api, publishableKey, storage, onVisitor } = this.#options;
    const response = await api({ path: "/visitors", publishableKey });
    const visitor = (await response.json()) as StoredVisitor;
    storage.write("visitor", visitor);
    onVisitor(visitor.expiresAt);
    return visitor;
  }

  /** One caller at a time, in this tab and among tabs. */
  #alone<Value>(create: () => Promise<Value>): Promise<Value> {
    const result = this.#creating.then(() => withTabLock(this.#options.lockName, create));
    this.#creating = result.catch(() => {});
    return result;
  }

  #read(): StoredVisitor | null {
    const value = this.#options.storage.read("visitor") as Partial<StoredVisitor> | null;
    return typeof value?.visitorToken === "string" ? (value as StoredVisitor) : null;
  }
}

function accessOf(visitor: StoredVisitor | null): ThreadAccess | null {
  return visitor?.threadId === undefined ? null : { token: visitor.visitorToken, threadId: visitor.threadId };
}
