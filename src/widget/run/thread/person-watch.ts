import type { StateFeedLine } from "../../../protocol/feed.ts";
import type { Handoffs } from "../../../protocol/handoffs.ts";
import type { ShownPeople } from "../../view/view-state.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { inTurn } from "../in-turn.ts";
import { warnOwner } from "../warn-owner.ts";

/** How long a typing signal lasts. */
const TYPING_MS = 6_000;
/** The waiting time is updated every second. */
const TICK_MS = 1_000;

/** Since when the visitor waits for a person, or the name of the person who has the thread. */
type FeedPerson = { sinceMs: number } | { name: string };

/** Shows who answers in the thread, according to its feed, and asks for a person. */
export class PersonWatch {
  readonly #dependencies: ConversationDependencies;
  readonly #turn = inTurn();
  #typing: ReturnType<typeof setTimeout> | undefined;
  #ticking: ReturnType<typeof setInterval> | undefined;
  /** What the last `person` event said. */
  #told: FeedPerson | null = null;
  /** The feed has not reported this thread's state yet; the first state may have begun long ago. */
  #isFirst = true;
  /** The thread of which it was read who answered. */
  #readFor: string | null = null;

  constructor(dependencies: ConversationDependencies) {
    this.#dependencies = dependencies;
    dependencies.view.change({
      askPerson: (isWanted) => void this.#ask(isWanted),
      leaveAddress: (address) => void this.#leaveAddress(address),
      ratePerson: (said) => void this.#rate(said),
    });
  }

  /** Reads who answered in the thread, once, if its channel has people. Call when that may be known. */
  check(): void {
    const { visitor, view } = this.#dependencies;
    const { threadId } = visitor;
    const { handoff, peopleAgainAtMs = null, person = null, messages } = view.state;
    const mayHavePeople = handoff === true || peopleAgainAtMs !== null || person !== null;
    if (threadId === null || threadId === this.#readFor || !mayHavePeople || messages.length === 0) return;
    void this.#read(threadId);
  }

  /** What cannot be read is not shown; the next change of who answers reads it again. */
  async #read(threadId: string): Promise<void> {
    const { api, visitor, view } = this.#dependencies;
    const { access } = visitor;
    if (access === null) return;
    this.#readFor = threadId;
    try {
      const path = `/threads/${encodeURIComponent(threadId)}/handoffs`;
      const answer = await api({ path, method: "GET", visitorToken: access.visitorToken });
      // A cast: the service answers so.
      const people = (await answer.json()) as Handoffs;
      if (visitor.threadId === threadId) view.change({ people });
    } catch (error) {
      warnOwner(error);
    }
  }

  /** The form stays until the address is kept: then the visitor may leave the page. */
  async #leaveAddress(address: string): Promise<void> {
    const { visitor } = this.#dependencies;
    const { threadId } = visitor;
    const isKept = await this.#leave("address", { address });
    if (isKept && visitor.threadId === threadId) this.#show({ address });
  }

  /** A face is shown at once. The field for words stays until they are kept: then the visitor may leave the page. */
  async #rate(said: { score: number; comment?: string } | null): Promise<void> {
    const { view, host } = this.#dependencies;
    const before = view.state.people?.rating ?? null;
    if (said === null) return before ? this.#show({ rating: { score: before.score } }) : undefined;
    const rating = { ...said, isAsked: true };
    this.#show({ rating });
    const isKept = await this.#leave("rating", said);
    // The visitor has gone on meanwhile.
    if (view.state.people?.rating !== rating) return;
    if (!isKept) this.#show({ rating: before });
    else if (said.comment !== undefined) {
      this.#show({ rating: said });
      view.change({ announcement: host.strings().feedbackThanks });
    }
  }

  #show(change: Partial<ShownPeople>): void {
    const { view } = this.#dependencies;
    const { people } = view.state;
    if (people) view.change({ people: { ...people, ...change } });
  }

  /** Returns whether the service has kept it; if not, the visitor is told. */
  async #leave(what: "address" | "rating", body: object): Promise<boolean> {
    const { api, visitor, view, host } = this.#dependencies;
    try {
      const { threadId, visitorToken } = await visitor.thread();
      const path = `/threads/${encodeURIComponent(threadId)}/${what}`;
      await this.#turn(async () => api({ path, visitorToken, body }));
      return true;
    } catch (error) {
      view.notify(host.strings().failed, true);
      warnOwner(error);
      return false;
    }
  }

  /** Takes the thread's state: who answers, and whether a run is at work. */
  take(line: StateFeedLine): void {
    const { view } = this.#dependencies;
    const person = personIn(line);
    this.#stop();
    const isNews = this.#tell(person) && !this.#isFirst;
    this.#isFirst = false;
    if (isNews) this.#readFor = null;
    queueMicrotask(() => this.check());
    if (person === null) {
      // The notice stays until the assistant is at work, which makes it visible.
      const isBack = (view.state.person ?? null) !== null && line.state !== "running";
      return view.change({ person: isBack ? { type: "gone" } : null });
    }
    if ("name" in person)
      return view.change({ person: { type: "here", name: person.name, isTyping: false } });
    view.change({ person: { type: "waiting", sinceMs: this.#onOwnClock(person.sinceMs, isNews) } });
    this.#ticking = setInterval(() => this.#dependencies.host.redraw(), TICK_MS);
  }

  /** A visitor's clock may be wrong by hours. News has just happened, so it shows by how much; stored for reloads. */
  #onOwnClock(ms: number, isNews: boolean): number {
    const { tabStorage } = this.#dependencies;
    if (isNews) tabStorage.write("clock-ahead", Date.now() - ms);
    const aheadMs = tabStorage.read("clock-ahead");
    return ms + (typeof aheadMs === "number" ? aheadMs : 0);
  }

  /** Shows that the person is typing; their message ends it. */
  types(isTyping: boolean): void {
    const { view } = this.#dependencies;
    const { person = null } = view.state;
    clearTimeout(this.#typing);
    if (person?.type !== "here") return;
    if (person.isTyping !== isTyping) view.change({ person: { ...person, isTyping } });
    if (isTyping) this.#typing = setTimeout(() => this.types(false), TYPING_MS);
  }

  /** Another thread is shown, or none. */
  leave(): void {
    this.#stop();
    this.#isFirst = true;
    this.#tell(null);
    this.#readFor = null;
    const { view } = this.#dependencies;
    if (view.state.person || view.state.people) view.change({ person: null, people: null });
  }

  /** Asks for a person, in a new thread if there is none yet, or stops waiting. The feed reports the result. */
  async #ask(isWanted: boolean): Promise<void> {
    const { api, visitor, view, host } = this.#dependencies;
    try {
      const { threadId, visitorToken } = await visitor.thread();
      const path = `/threads/${encodeURIComponent(threadId)}/handoff${isWanted ? "" : "/cancel"}`;
      await api({ path, visitorToken });
    } catch {
      view.notify(host.strings().failed, true);
    }
  }

  /** Every opened feed repeats the state: returns false for a repetition. */
  #tell(person: FeedPerson | null): boolean {
    if (JSON.stringify(person) === JSON.stringify(this.#told)) return false;
    this.#told = person;
    this.#dependencies.host.emit("person", {
      waitingSince: person && "sinceMs" in person ? person.sinceMs : null,
      name: person && "name" in person ? person.name : null,
    });
    return true;
  }

  #stop(): void {
    clearInterval(this.#ticking);
    clearTimeout(this.#typing);
  }
}

function personIn(line: StateFeedLine): FeedPerson | null {
  if ("with" in line) return { name: line.with };
  return "waitingSince" in line ? { sinceMs: line.waitingSince } : null;
}
