import { fieldsOf, isString } from "./fields.ts";
import type { JsonStorage } from "./json-storage.ts";
import { withTabLock } from "./tab-lock.ts";
import { refusedStatus } from "./widget-api.ts";
import type { WidgetApi } from "./widget-api.ts";

/** In place of a tab's thread: it begins a new one. */
const NONE = "";

/** What a request in a thread needs. */
export interface ThreadAccess {
  visitorToken: string;
  threadId: string;
}

/**
 * Who this browser is to the service, and the thread that a new tab begins with. Shared by the tabs of an origin; a tab
 * that has shown a thread stays in it, whatever the others do.
 */
interface StoredVisitor {
  visitorToken: string;
  threadId?: string;
}

export interface VisitorSessionOptions {
  api: WidgetApi;
  publishableKey: string;
  storage: JsonStorage;
  /** Keeps the tab's own thread. */
  tabStorage: JsonStorage;
  /** Held while a visitor or a thread is created. */
  lockName: string;
  onVisitor: (expiresAt: number) => void;
  onThread: (threadId: string) => void;
}

/**
 * The visitor and the thread of this browser, created when first needed. Tabs that ask at the same time wait for the
 * first one. expiresAt is not stored: the service extends a token's life, so only the service knows it.
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

  /** What is known; null: the visitor or the thread is yet to be made. */
  get access(): ThreadAccess | null {
    const known = this.#read();
    return hasThread(known) ? known : null;
  }

  /** The tab is to begin a new thread: the visitor wants none of those that there are. */
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
        usedToken = thread.visitorToken;
        return await request(thread);
      } catch (error) {
        if (isRenewed || !this.forgetUnknown(error, usedToken)) throw error;
        onRenewed();
      }
    }
  }

  /**
   * Forgets the token (401) or the thread (404) that the service does not know. Returns false for any other error. Where
   * no token was used, it is the publishable key that is unknown.
   */
  forgetUnknown(error: unknown, usedToken: string | null): boolean {
    const status = refusedStatus(error);
    if (status === 401 && usedToken !== null) this.forget(usedToken);
    else if (status === 404) this.#dropThread();
    else return false;
    return true;
  }

  /** The tab is in no thread of its own: another tab has forgotten the visitor. */
  forgetTab(): void {
    this.#stayIn(null);
  }

  /** The next message of this tab begins a new thread; other tabs stay where they are. */
  leaveThread(): void {
    this.#stayIn(NONE);
  }

  /** This tab is in the visitor's thread with this id from now on. */
  enterThread(threadId: string): void {
    this.#stayIn(threadId);
  }

  /** The service gave this one in the place of the token that there is: the visitor and the thread stay. */
  replaceToken(visitorToken: string): void {
    const { storage } = this.#options;
    storage.write("visitor", { ...fieldsOf(storage.read("visitor")), visitorToken });
  }

  /** Forgets the visitor. With a token: only the visitor with that token, as another tab may have stored a new one. */
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

  /** The service does not know the tab's thread: the tab is in the one of the others, if that is another one. */
  #dropThread(): void {
    const { visitorToken, threadId } = fieldsOf(this.#options.storage.read("visitor"));
    if (isString(visitorToken) && threadId === this.threadId) this.#write({ visitorToken });
    this.#stayIn(null);
  }

  /** Or the one that another caller created meanwhile. */
  async #createVisitor(): Promise<StoredVisitor> {
    const known = this.#read();
    if (known !== null) return known;
    const { api, publishableKey, onVisitor } = this.#options;
    const response = await api({ path: "/visitors", publishableKey });
    const { visitorToken, expiresAt } = fieldsOf(await response.json());
    const created = { visitorToken: String(visitorToken) };
    this.#write(created);
    // What another visitor was in.
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

  /** What the tabs share, in short; null: nothing yet. */
  #shared(): string | null {
    const { visitorToken, threadId } = fieldsOf(this.#options.storage.read("visitor"));
    return [threadId, visitorToken].find(isString) ?? null;
  }

  /** null: in the one that the tabs share. */
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
