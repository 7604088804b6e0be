import { fieldsOf, isString } from "./fields.ts";
import type { JsonStorage } from "./json-storage.ts";
import { withTabLock } from "./tab-lock.ts";
import { refusedStatus } from "./widget-api.ts";
import type { WidgetApi } from "./widget-api.ts";

/** Stored in place of a tab's thread: the tab begins a new one. */
const NONE = "";

/** What a request in a thread needs. */
export interface ThreadAccess {
  visitorToken: string;
  threadId: string;
}

/**
 * This browser's visitor, and the thread that a new tab begins with. Shared by the tabs of an origin; a tab that has
 * entered a thread stays in it, whatever the others do.
 */
interface StoredVisitor {
  visitorToken: string;
  threadId?: string;
}

export interface VisitorSessionOptions {
  api: WidgetApi;
  publishableKey: string;
  storage: JsonStorage;
  /** Stores the tab's own thread. */
  tabStorage: JsonStorage;
  /** Held while a visitor or a thread is created. */
  lockName: string;
  onVisitor: (expiresAt: number) => void;
  onThread: (threadId: string) => void;
}

/**
 * The visitor and the thread of this browser, created when first needed. If tabs ask at the same time, the others wait
 * for the first. expiresAt is not stored: the service extends a token's life, so only the service knows it.
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

  /** The stored access; null: the visitor or the thread is not created yet. */
  get access(): ThreadAccess | null {
    const known = this.#read();
    return hasThread(known) ? known : null;
  }

  /** The tab's next message begins a new thread, as the visitor asked. */
  get isBeginning(): boolean {
    return this.#options.tabStorage.read("thread") === NONE;
  }

  get isUnknown(): boolean {
    return this.#read() === null;
  }

  async token(): Promise<string> {
    return (this.#read() ?? (await this.#alone(() => this.#createVisitor()))).visitorToken;
  }

  /** Creates what is missing. */
  async thread(): Promise<ThreadAccess> {
    const known = this.#read();
    if (hasThread(known)) {
      this.#stayIn(known.threadId);
      return known;
    }
    return await this.#alone(() => this.#createThread());
  }

  /**
   * Makes a request in the thread. An unknown token (401) or thread (404) is replaced, and the request repeated once;
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
        usedToken = thread.visitorToken;
        return await request(thread);
      } catch (error) {
        if (isRenewed || !this.forgetUnknown(error, usedToken)) throw error;
        onRenewed();
      }
    }
  }

  /**
   * Forgets the token (401) or the thread (404) that the service does not know. Returns false for any other error. If no
   * token was used, it is the publishable key that is unknown.
   */
  forgetUnknown(error: unknown, usedToken: string | null): boolean {
    const status = refusedStatus(error);
    if (status === 401 && usedToken !== null) this.forget(usedToken);
    else if (status === 404) this.#dropThread();
    else return false;
    return true;
  }

  /** The tab has no thread of its own any more: another tab has forgotten the visitor. */
  forgetTab(): void {
    this.#stayIn(null);
  }

  /** The next message of this tab begins a new thread; other tabs keep theirs. */
  leaveThread(): void {
    this.#stayIn(NONE);
  }

  /** This tab is in the visitor's thread with this id from now on. */
  enterThread(threadId: string): void {
    this.#stayIn(threadId);
  }

  /** Replaces the token by the one that the service issued for it; the visitor and the thread stay. */
  replaceToken(visitorToken: string): void {
    const { storage } = this.#options;
    storage.write("visitor", { ...fieldsOf(storage.read("visitor")), visitorToken });
  }

  /** Forgets the visitor. With a token: only the visitor with that token, since another tab may have stored a new one. */
  forget(token: string | null = null): void {
    if (token !== null && this.#read()?.visitorToken !== token) return;
    this.#write(null);
    this.#stayIn(null);
  }

  async #createThread(): Promise<ThreadAccess> {
    const { api, onThread } = this.#options;
    const visitor = await this.#createVisitor();
    if (hasThread(visitor)) return visitor;
    const { visitorToken } = visitor;
    const { threadId } = fieldsOf(await (await api({ path: "/threads", visitorToken })).json());
    const created = { visitorToken, threadId: String(threadId) };
    this.#write(created);
    this.#stayIn(created.threadId);
    onThread(created.threadId);
    return created;
  }

  /** The service does not know the tab's thread: the tab goes to the shared thread, if that is another one. */
  #dropThread(): void {
    const { visitorToken, threadId } = fieldsOf(this.#options.storage.read("visitor"));
    if (isString(visitorToken) && threadId === this.threadId) this.#write({ visitorToken });
    this.#stayIn(null);
  }

  /** Returns the visitor that another caller created meanwhile, if there is one. */
  async #createVisitor(): Promise<StoredVisitor> {
    const known = this.#read();
    if (known !== null) return known;
    const { api, publishableKey, onVisitor } = this.#options;
    const response = await api({ path: "/visitors", publishableKey });
    const { visitorToken, expiresAt } = fieldsOf(await response.json());
    const created = { visitorToken: String(visitorToken) };
    this.#write(created);
    // The tab's thread belonged to another visitor.
    this.#stayIn(null);
    onVisitor(Number(expiresAt));
    return created;
  }

  /** One caller at a time, in this tab and among tabs. */
  #alone<Value>(create: () => Promise<Value>): Promise<Awaited<Value>> {
    const result = this.#creating.then(() =>
      withTabLock(this.#options.lockName, () => this.#shared(), create),
    );
    this.#creating = result.catch(() => {});
    return result;
  }

  #read(): StoredVisitor | null {
    const { storage, tabStorage } = this.#options;
    const { visitorToken, threadId: shared } = fieldsOf(storage.read("visitor"));
    if (!isString(visitorToken)) return null;
    const threadId = tabStorage.read("thread") ?? shared;
    return isString(threadId) && threadId !== NONE ? { visitorToken, threadId } : { visitorToken };
  }

  /** The shared thread, or else the token; null: neither yet. */
  #shared(): string | null {
    const { visitorToken, threadId } = fieldsOf(this.#options.storage.read("visitor"));
    return [threadId, visitorToken].find(isString) ?? null;
  }

  /** null: the tab uses the shared thread. */
  #stayIn(threadId: string | null): void {
    const { tabStorage } = this.#options;
    if (tabStorage.read("thread") !== threadId) tabStorage.write("thread", threadId);
  }

  #write(visitor: StoredVisitor | null): void {
    this.#options.storage.write("visitor", visitor);
  }
}

function hasThread(visitor: StoredVisitor | null): visitor is ThreadAccess {
  return visitor?.threadId !== undefined;
}
