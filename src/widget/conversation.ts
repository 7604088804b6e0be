import { Board } from "./board.ts";
import { carryRun, pause } from "./carry-run.ts";
import { postCatalog } from "./catalog-post.ts";
import type { Opening, RunEnd } from "./follow-run.ts";
import { newestMessages } from "./history.ts";
import { currentPage } from "./page-host.ts";
import type { CustomerContext, PageHost } from "./page-host.ts";
import { asHolder, readRecord } from "./run-record.ts";
import type { RunRecord } from "./run-record.ts";
import type { Item } from "./state.ts";
import type { Shelf } from "./storage.ts";
import { Refused } from "./transport.ts";
import type { Service } from "./transport.ts";
import { problemOf, tellOwner } from "./troubles.ts";
import { VisitorDesk } from "./visitor.ts";

export interface ConversationOptions {
  service: Service;
  publishableKey: string;
  /** Shared by the tabs of this origin. */
  shelf: Shelf;
  /** This tab's own; it outlives a navigation. */
  tab: Shelf;
  /** Prefix of Web Lock names. */
  lockName: string;
  host: PageHost;
}

type Place = { token: string; threadId: string };

/** How long an open stream is given to end by itself after a cancel. */
const LAST_LINE_MS = 1_000;

/** One visitor's conversation in this tab: what the visitor and the page can do with it. */
export class Conversation {
  readonly desk: VisitorDesk;
  readonly board: Board;
  readonly #options: ConversationOptions;
  readonly #host: PageHost;
  readonly #allowed = new Set<string>();
  #run: AbortController | null = null;
  /** Catalog and history of this page; null where they are not asked for, or could not be had. */
  #starting: Promise<void> | null = null;

  constructor(options: ConversationOptions) {
    const { service, publishableKey, shelf, tab, lockName, host } = options;
    this.#options = options;
    this.#host = host;
    this.desk = new VisitorDesk({
      service,
      publishableKey,
      shelf,
      lockName: `${lockName}visitor`,
      onVisitor: (expiresAt) => host.emit("visitor", { expiresAt }),
      onThread: (threadId) => host.emit("thread", { threadId }),
    });
    const draft = tab.read("draft");
    this.board = new Board(host, typeof draft === "string" ? draft : "");
  }

  /** The panel was opened for the first time on this page: visitor, thread, catalog, history. */
  async start(): Promise<void> {
    this.#starting ??= this.#guarded(async () => {
      const at = await this.desk.inThread(
        async (place) => {
          await this.#postCatalog(place);
          return place;
        },
        () => this.#beginAnew(),
      );
      await this.#loadHistory(at, true);
      await this.#listen(at);
    });
    await this.#starting;
  }

  /** Goes on with the run that this tab had started on the page before; false where there is none. */
  async resume(): Promise<boolean> {
    const { tab, lockName } = this.#options;
    const record = readRecord(tab, Date.now());
    if (record === null || record.threadId !== this.desk.threadId) {
      tab.write("run", null);
      return false;
    }
    this.board.phase("streaming");
    this.#starting = Promise.resolve();
    await this.#guarded(async () => {
      const isOurs = await asHolder(`${lockName}run:${record.id}`, async () => {
        this.#host.emit("resumed", { tool: record.call?.tool ?? null, from: record.from ?? null });
        if (record.call !== undefined) this.board.tell(this.#host.strings().resumed, false);
        const at = await this.desk.thread();
        await this.#loadHistory(at);
        await this.#carry(at, record, { type: "attach" });
      });
      if (isOurs) return;
      // Another tab holds on to it: a duplicated tab, say. It is that one's to finish.
      tab.write("run", null);
      this.board.rest();
    });
    return true;
  }

  /** Says a text. Resolves when the run has ended, however it did; rejects while another one is under way. */
  async send(text: string, context: CustomerContext | null): Promise<void> {
    const said = text.trim();
    if (said === "") return;
    if (this.board.isRunning) throw new Error("Cannot send: a reply is under way");
    const { lockName } = this.#options;
    this.board.retireProblems();
    const question = this.board.add("user", said);
    const answer = this.board.add("assistant", "");
    this.draft("");
    this.board.phase("sending");
    this.#host.emit("message", { role: "user", text: said });
    const record = { id: Math.random().toString(36).slice(2), phase: "talking" as const };
    this.#run = new AbortController();
    const { signal } = this.#run;
    try {
      // What was said before comes first; it is on its way where the panel was just opened.
      await this.start();
      this.board.phase("sending");
      signal.throwIfAborted();
      await asHolder(`${lockName}run:${record.id}`, async () => {
        const { at, response } = await this.desk.inThread(
          (place) => this.#post(place, said, context, record, signal),
          () => this.#beginAnew(question, answer),
        );
        const full = { ...record, threadId: at.threadId, atMs: Date.now() };
        await this.#carry(at, full, { type: "said", response }, answer.key);
      });
    } catch (error) {
      this.#options.tab.write("run", null);
      if (signal.aborted) this.board.fail(answer.key, { text: this.#host.strings().stopped, retry: null });
      else this.#notTaken(error, question, answer);
    } finally {
      this.#run = null;
    }
  }

  /** Does again what failed last. */
  async retry(): Promise<void> {
    const { items } = this.board.shown;
    const failed = items.findLast((item) => item.problem !== null);
    const retry = failed?.problem?.retry ?? null;
    if (this.board.isRunning) return;
    if (failed === undefined || retry === null) {
      this.board.change({ notice: null });
      await this.start();
      return;
    }
    if (retry === "attach") {
      this.board.drop(failed.key);
      this.board.rest();
      await this.#guarded(async () => this.#carry(await this.desk.thread(), null, { type: "attach" }));
      return;
    }
    const question = items.findLast((item) => item.role === "user");
    if (question === undefined) return;
    if (retry === "resend") this.board.drop(failed.key, question.key);
    await this.send(question.text, this.#host.customerContext());
  }

  /** Stops the run under way; what was said so far stays. */
  async stop(): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    const { phase, question } = this.board.shown;
    // Its own stream tells that it was cancelled; a tool under way, or a message not yet taken, has none.
    const hasStream = phase === "streaming";
    if (!hasStream) run.abort(new DOMException("Stopped", "AbortError"));
    question?.decide("decline");
    const { threadId } = this.desk;
    if (threadId === null) return;
    try {
      const path = `/threads/${encodeURIComponent(threadId)}/cancel`;
      await this.#options.service({ path, token: await this.desk.token() });
      if (hasStream) await new Promise((resolve) => setTimeout(resolve, LAST_LINE_MS));
    } catch (error) {
      tellOwner(error);
    } finally {
      run.abort(new DOMException("Stopped", "AbortError"));
    }
  }

  /** Leaves this conversation for a new one. */
  async newThread(): Promise<void> {
    await this.stop();
    this.desk.leaveThread();
    this.#forgetThread();
    await this.start();
  }

  /** Forgets the visitor: token, thread, run and draft. */
  async reset(): Promise<void> {
    await this.stop();
    this.desk.forget();
    this.#forgetThread();
  }

  /** Loads the conversation again, for instance after the visitor became an account. */
  async refresh(): Promise<void> {
    if (this.board.isRunning) return;
    await this.#guarded(async () => {
      const at = await this.desk.thread();
      await this.#loadHistory(at);
      await this.#listen(at);
    });
  }

  async earlier(): Promise<void> {
    const first = this.board.shown.items[0];
    if (first === undefined || !first.key.startsWith("h")) return;
    await this.#guarded(async () => {
      const page = await newestMessages(this.#options.service, await this.desk.thread(), first.key.slice(1));
      this.board.change({ items: [...page.items, ...this.board.shown.items], hasEarlier: page.hasEarlier });
    });
  }

  draft(text: string): void {
    this.#options.tab.write("draft", text === "" ? null : text);
    this.board.change({ draft: text });
  }

  seen(): void {
    if (this.board.shown.unread > 0) this.board.change({ unread: 0 });
  }

  /** The browser went offline or came back. */
  connectionChanged(): void {
    if (!this.board.isRunning && this.board.shown.phase !== "blocked") this.board.rest();
  }

  /** Another tab changed what the tabs share. */
  async otherTab(event: StorageEvent): Promise<void> {
    const { shelf } = this.#options;
    if (this.#starting === null || this.board.isRunning) return;
    const isVisitor = shelf.owns(event, "visitor");
    if (isVisitor && this.desk.threadId === null) this.#forgetThread();
    else if (isVisitor || shelf.owns(event, "turn")) await this.refresh();
  }

  /** The page's tools changed. */
  async toolsChanged(): Promise<void> {
    if (this.#starting === null || this.desk.threadId === null) return;
    await this.#guarded(async () => {
      await this.#postCatalog(await this.desk.thread());
    });
  }

  async #post(
    at: Place,
    text: string,
    context: CustomerContext | null,
    record: Pick<RunRecord, "id" | "phase">,
    signal: AbortSignal,
  ): Promise<{ at: Place; response: Response }> {
    const { service, tab } = this.#options;
    await this.#postCatalog(at);
    // Before it is sent: a page that is left right after finds the reply.
    tab.write("run", { ...record, threadId: at.threadId, atMs: Date.now() } satisfies RunRecord);
    const customerContext = context === null ? {} : { customerContext: context };
    const response = await service({
      path: "/messages",
      token: at.token,
      body: { threadId: at.threadId, text, page: currentPage(), ...customerContext },
      signal,
    });
    return { at, response };
  }

  /** Asked and not answered yet: the run goes on in another tab, or in none. */
  async #listen(at: Place): Promise<void> {
    const isWaiting = this.board.shown.items.at(-1)?.role === "user";
    if (isWaiting && !this.board.isRunning) await this.#carry(at, null, { type: "attach" });
  }

  /** Follows a run to its end and shows how it ended. Without a record this tab only listens. */
  async #carry(at: Place, record: RunRecord | null, opening: Opening, shownIn?: string): Promise<void> {
    const { service, tab, shelf } = this.#options;
    const { board } = this;
    const run = (this.#run ??= new AbortController());
    const item = shownIn ?? board.add("assistant", "").key;
    if (opening.type === "attach") board.phase("streaming");
    try {
      const end = await carryRun({
        service,
        at,
        host: this.#host,
        board,
        tab,
        record,
        opening,
        item,
        signal: run.signal,
        allowed: this.#allowed,
        postCatalog: async () => {
          await this.#postCatalog(at);
        },
      });
      await this.#ended(end, item, opening.type === "attach" ? at : null);
      if (record !== null) shelf.write("turn", Date.now());
    } catch (error) {
      if (!run.signal.aborted) throw error;
      board.fail(item, { text: this.#host.strings().stopped, retry: null });
    } finally {
      this.#run = null;
    }
  }

  /** `reloadAt`: what was only listened to may stand in the history by now, and then comes from there. */
  async #ended(end: RunEnd, item: string, reloadAt: Place | null): Promise<void> {
    const { board } = this;
    const text = board.item(item)?.text ?? "";
    board.settle(item);
    let shownIn = item;
    if (reloadAt !== null && (end.type === "done" || end.type === "error" || end.type === "none")) {
      await this.#loadHistory(reloadAt);
      shownIn = board.shown.items.at(-1)?.key ?? item;
    }
    switch (end.type) {
      case "done":
        board.change({ spoken: text.slice(0, 600) });
        board.rest();
        board.countUnread();
        this.#host.emit("message", { role: "assistant", text });
        this.#host.emit("done", end);
        return;
      case "error": {
        if (board.item(shownIn)?.role !== "assistant") shownIn = board.add("assistant", "").key;
        board.fail(shownIn, problemOf(end, this.#host.strings()));
        board.countUnread();
        const { type: _type, ...error } = end;
        this.#host.emit("error", error);
        return;
      }
      case "none":
      case "elsewhere":
        board.rest();
        return;
      case "lost":
        if (board.item(item) === null) shownIn = board.add("assistant", "").key;
        board.fail(shownIn, { text: this.#host.strings().cut, retry: "attach" });
        tellOwner(end.cause);
        this.#host.emit("error", { message: "The connection to the run is lost" });
    }
  }

  /** A message that the service did not take. */
  #notTaken(error: unknown, question: Item, answer: Item): void {
    const strings = this.#host.strings();
    const status = error instanceof Refused ? error.status : 0;
    if (status === 413 || status === 422 || status === 429) {
      // The text goes back to where it can be shortened, or waits.
      this.board.drop(question.key, answer.key);
      this.draft(question.text);
      this.board.rest();
    } else {
      this.board.drop(answer.key);
      this.board.fail(question.key, { text: strings.notSent, retry: "resend" });
    }
    if (status === 413 || status === 422) {
      this.board.tell(strings.tooLong, true);
      this.#report(error);
    } else {
      this.#trouble(error);
    }
  }

  /** Does what talks to the service; a failure is shown, not thrown: nobody is waiting for it. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#starting = null;
      this.board.rest();
      this.#trouble(error);
    }
  }

  #trouble(error: unknown): void {
    this.#report(error);
    tellOwner(error);
    const status = error instanceof Refused ? error.status : 0;
    if (status === 403 || status === 401) this.board.phase("blocked");
    else if (!navigator.onLine) this.board.phase("offline");
    else if (error instanceof Refused && status === 429) {
      void pause(this.board, this.#host, error.retryAfterSeconds || 1, "busy");
    } else {
      if (this.board.shown.phase !== "error") this.board.tell(this.#host.strings().failed, true);
      this.board.phase("error");
    }
  }

  #report(error: unknown): void {
    this.#host.emit("error", {
      message: error instanceof Error ? error.message : String(error),
      ...(error instanceof Refused ? { status: error.status } : {}),
    });
  }

  async #postCatalog(at: Place): Promise<void> {
    const { service, shelf } = this.#options;
    await postCatalog({ service, shelf, host: this.#host, at });
  }

  /** A conversation that is gone is an empty one. */
  async #loadHistory(at: Place, isStart = false): Promise<void> {
    const run = this.#run;
    try {
      const { items, hasEarlier } = await newestMessages(this.#options.service, at, null);
      // A message sent meanwhile waits, at the start, for this very history; later it may be in it already.
      const isSending = isStart ? this.board.shown.phase === "sending" : this.#run !== run;
      if (isSending && !isStart) return;
      const unsent = isSending ? this.board.shown.items.filter(({ key }) => key.startsWith("l")) : [];
      this.board.change({ items: [...items, ...unsent], hasEarlier });
    } catch (error) {
      if (!(error instanceof Refused) || (error.status !== 401 && error.status !== 404)) throw error;
      if (error.status === 401) this.desk.forget(at.token);
      else this.desk.leaveThread();
      this.#forgetThread();
    }
  }

  #beginAnew(...items: Item[]): void {
    this.#options.shelf.write("catalog", null);
    this.board.change({ items, hasEarlier: false });
  }

  #forgetThread(): void {
    const { tab, shelf } = this.#options;
    this.#allowed.clear();
    this.#starting = null;
    for (const name of ["run", "draft"]) tab.write(name, null);
    shelf.write("catalog", null);
    this.board.clear();
  }
}
