import type { Exchange } from "../clients/exchange.ts";
import type { Watch, Watcher } from "./watcher.ts";

/** What clients said of one text, over all their tries. */
interface Said {
  sentAtMs: number;
  /** Tries that may have stored it: on their way, lost, or answered with 503. */
  openTries: number;
  /** The first 200 that reached a client. */
  heardAtMs: number | null;
  /** Every try was refused. */
  isRefused: boolean;
}

/**
 * said-once: no message is in a thread twice. only-what-was-said: nothing is there that no client sent.
 * said-in-order: what was acknowledged before another message was sent stands before it.
 * acknowledged-is-stored: the 200 of a message comes after its save. acknowledged-is-kept: it stays.
 * refused-is-not-stored: what was refused never shows up, unless another try may have stored it.
 */
export function watchSaid({ ledger, report }: Watch): Watcher {
  const threads = new Map<string, Map<string, Said>>();
  const saidIn = (uid: string) => threads.get(uid) ?? new Map<string, Said>();

  function textsIn(uid: string): string[] {
    const { messages, queue } = ledger.truth(uid);
    return [
      ...messages.flatMap(({ role, content }) => (role === "user" ? [content] : [])),
      // What is to be answered again has no text of its own.
      ...queue.flatMap(({ text, again }) => (again ? [] : [text])),
    ];
  }

  function isThere(uid: string, text: string): boolean {
    return ledger.isLostText(uid, text) || textsIn(uid).includes(text);
  }

  function checkThread(uid: string): void {
    const texts = textsIn(uid);
    const said = saidIn(uid);
    for (const [i, text] of texts.entries()) {
      if (!said.has(text)) report("only-what-was-said", uid, `nobody said “${text}”`);
      if (texts.indexOf(text) !== i) report("said-once", uid, `“${text}” is there twice`);
    }
    checkOrder(uid, texts);
  }

  function checkOrder(uid: string, texts: readonly string[]): void {
    const last = texts.at(-1) ?? "";
    const { heardAtMs } = saidIn(uid).get(last) ?? { heardAtMs: null };
    // What a failover took comes again when its client asks again.
    if (heardAtMs === null || ledger.isLostText(uid, last)) return;
    for (const text of texts.slice(0, -1)) {
      const { sentAtMs } = saidIn(uid).get(text) ?? { sentAtMs: 0 };
      if (heardAtMs < sentAtMs) report("said-in-order", uid, `“${text}” stands before “${last}”`);
    }
  }

  function checkKept(): void {
    for (const [uid, texts] of threads) {
      for (const [text, { heardAtMs }] of texts) {
        if (heardAtMs !== null && !isThere(uid, text)) {
          report("acknowledged-is-kept", uid, `“${text}” was acknowledged and is gone`);
        }
      }
    }
  }

  function note({ about, sentAtMs }: Exchange): Said | null {
    if (about.type !== "say") return null;
    const texts = saidIn(about.uid);
    threads.set(about.uid, texts);
    const said = texts.get(about.text) ?? { sentAtMs, openTries: 0, heardAtMs: null, isRefused: false };
    texts.set(about.text, said);
    return said;
  }

  function checkAnswered(exchange: Exchange, status: number): void {
    const { about } = exchange;
    const said = note(exchange);
    if (!said || about.type !== "say") return;
    const isStored = isThere(about.uid, about.text);
    if (status !== 503) said.openTries--;
    said.isRefused = status !== 200 && said.openTries === 0;
    if (status !== 200 || isStored) return;
    report("acknowledged-is-stored", about.uid, `“${about.text}” was answered with 200, and is not stored`);
  }

  return {
    see(happening) {
      const { type } = happening;
      if (type === "committed" || type === "waited") checkThread(happening.uid);
      if (type === "writes lost") checkKept();
      if (type === "asked") {
        const said = note(happening.exchange);
        if (said) said.openTries++;
      }
      if (type === "answered") checkAnswered(happening.exchange, happening.status);
      if (type === "heard" && happening.status === 200) {
        const said = note(happening.exchange);
        if (said) said.heardAtMs ??= happening.exchange.heardAtMs;
      }
    },

    atRest() {
      checkKept();
      for (const [uid, texts] of threads) {
        for (const [text, { isRefused, heardAtMs }] of texts) {
          if (isRefused && heardAtMs === null && textsIn(uid).includes(text)) {
            report("refused-is-not-stored", uid, `“${text}” was refused, and is stored`);
          }
        }
      }
    },
  };
}
