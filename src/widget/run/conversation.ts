import { Board } from "../view/board.ts";
import { postCatalog } from "../tools/post-catalog.ts";
import { writeDraft } from "./draft.ts";
import type { CustomerContext } from "../service/customer-context.ts";
import type { PageHost } from "./page-host.ts";
import type { ConversationParts } from "./parts.ts";
import { asHolder, readRecord } from "./run-record.ts";
import { showTrouble } from "./show-trouble.ts";
import type { Shelf } from "../service/storage.ts";
import { TabRun } from "./tab-run.ts";
import { Transcript } from "./transcript.ts";
import type { Service } from "../service/transport.ts";
import { VisitorDesk } from "../service/visitor.ts";
import type { Place } from "../service/visitor.ts";

export interface ConversationOptions {
  service: Service;
  publishableKey: string;
  shelf: Shelf;
  tab: Shelf;
  lockName: string;
  host: PageHost;
}

/** One visitor's conversation in this tab: what the visitor and the page can do with it. */
export class Conversation {
  readonly desk: VisitorDesk;
  readonly board: Board;
  readonly #parts: ConversationParts;
  readonly #transcript: Transcript;
  readonly #run: TabRun;
  /** Catalog and history of this page; null where they are not asked for, or could not be had. */
  #starting: Promise<void> | null = null;

  constructor({ publishableKey, ...given }: ConversationOptions) {
    const { service, shelf, tab, lockName, host } = given;
    this.desk = new VisitorDesk({
      service,
      publishableKey,
      shelf,
      lockName: `${lockName}visitor`,
      onVisitor: (expiresAt) => host.emit("visitor", { expiresAt }),
      onThread: (threadId) => host.emit("thread", { threadId }),
    });
    const draft = tab.read("draft");
    this.board = new Board(typeof draft === "string" ? draft : "", (now, before) => {
      host.redraw();
      if (now.phase !== before.phase) host.emit("state", { state: now.phase });
      if (now.unread !== before.unread) host.emit("unread", { count: now.unread });
    });
    this.#parts = { ...given, desk: this.desk, board: this.board };
    this.#transcript = new Transcript(this.#parts, () => this.#forgetThread());
    this.#run = new TabRun(this.#parts, this.#transcript);
  }

  /** The panel was opened for the first time on this page: visitor, thread, catalog, history. */
  async start(): Promise<void> {
    this.#starting ??= this.#guarded(async () => {
      const at = await this.desk.inThread(
        async (place) => {
          await postCatalog(this.#parts, place);
          return place;
        },
        () => this.#transcript.beginAnew(),
      );
      await this.#transcript.begin(at);
      await this.#listen(at);
    });
    await this.#starting;
  }

  /** Goes on with the run that this tab had started on the page before; false where there is none. */
  async resume(): Promise<boolean> {
    const { tab, lockName, host } = this.#parts;
    const record = readRecord(tab, Date.now());
    if (record === null || record.threadId !== this.desk.threadId) {
      tab.write("run", null);
      return false;
    }
    this.board.phase("streaming");
    this.#starting = Promise.resolve();
    let isOurs = true;
    await this.#guarded(async () => {
      isOurs = await asHolder(`${lockName}run:${record.id}`, async () => {
        host.emit("resumed", { tool: record.call?.tool ?? null, from: record.from ?? null });
        if (record.call !== undefined) this.board.tell(host.strings().resumed, false);
        const at = await this.desk.thread();
        await this.#transcript.reload(at);
        await this.#run.attach(at, record);
      });
    });
    if (isOurs) return true;
    // Another tab holds on to it: a duplicated tab, say. It is that one's to finish.
    tab.write("run", null);
    this.#starting = null;
    this.board.rest();
    return false;
  }

  /** Resolves when the run has ended, however it did; rejects while another one is under way. */
  async send(text: string, context: CustomerContext | null, isAgain = false): Promise<void> {
    if (text !== "") await this.#run.send({ text, context, isAgain }, () => this.start());
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
      await this.#guarded(async () => this.#run.attach(await this.desk.thread(), null));
      return;
    }
    const question = items.findLast((item) => item.role === "user");
    if (question === undefined) return;
    if (retry === "resend") this.board.drop(failed.key, question.key);
    await this.send(question.text, this.#parts.host.customerContext(), retry === "resend");
  }

  /** Stops the run under way; what was said so far stays. */
  async stop(): Promise<void> {
    await this.#run.stop();
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
    if (this.board.isRunning || this.desk.threadId === null) return;
    await this.#guarded(async () => {
      const at = await this.desk.thread();
      await this.#transcript.reload(at);
      await this.#listen(at);
    });
  }

  async earlier(): Promise<void> {
    await this.#guarded(() => this.#transcript.earlier());
  }

  draft(text: string): void {
    writeDraft(this.#parts, text);
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
    const { shelf } = this.#parts;
    if (this.#starting === null || this.board.isRunning) return;
    const isVisitor = shelf.owns(event, "visitor");
    if (isVisitor && this.desk.threadId === null) this.#forgetThread();
    else if (isVisitor || shelf.owns(event, "turn")) await this.refresh();
  }

  /** The page's tools changed. */
  async toolsChanged(): Promise<void> {
    if (this.#starting === null || this.desk.threadId === null) return;
    await this.#guarded(async () => postCatalog(this.#parts, await this.desk.thread()));
  }

  /** Asked and not answered yet: the run goes on in another tab, or in none. */
  async #listen(at: Place): Promise<void> {
    const isWaiting = this.board.shown.items.at(-1)?.role === "user";
    if (isWaiting && !this.board.isRunning) await this.#run.attach(at, null);
  }

  /** Does what talks to the service; a failure is shown, not thrown: nobody is waiting for it. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#starting = null;
      this.board.rest();
      showTrouble(this.#parts, error);
    }
  }

  #forgetThread(): void {
    const { tab, shelf } = this.#parts;
    this.#run.forgetAllowed();
    this.#starting = null;
    for (const name of ["run", "draft"]) tab.write(name, null);
    shelf.write("catalog", null);
    this.board.clear();
  }
}
