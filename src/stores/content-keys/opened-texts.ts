/**
 * Messages as this process last opened them, by their thread: each new message reads its thread's whole tail, which differs
 * only at its end. A lookup brings the text as it is stored, so that one that has changed in the store is opened again. Texts
 * are dropped with their key.
 */
export interface OpenedTexts {
  get(uid: string, number: number, stored: string): string | undefined;
  /** `keyIds`: the keys that opened it. */
  set(at: { uid: string; number: number; keyIds: Iterable<string> }, text: Text): void;
  /** The keys that opened texts of a thread. */
  keysOf(uid: string): Iterable<string>;
  forgetKey(keyId: string): void;
  forgetThread(uid: string): void;
}

interface Text {
  stored: string;
  opened: string;
}

interface ThreadTexts {
  keyIds: Set<string>;
  byNumber: Map<number, Text>;
}

const NO_KEYS: readonly string[] = [];

const charsOf = ({ stored, opened }: Text): number => stored.length + opened.length;

/** `mostChars`: for all texts, stored and opened; beyond it the texts of the oldest thread are dropped. */
export function openedTexts(mostChars: number): OpenedTexts {
  const threads = new Map<string, ThreadTexts>();
  const uidsOf = new Map<string, Set<string>>();
  let chars = 0;

  function forgetThread(uid: string): void {
    const thread = threads.get(uid);
    if (!thread) return;
    threads.delete(uid);
    for (const text of thread.byNumber.values()) chars -= charsOf(text);
    for (const keyId of thread.keyIds) {
      const uids = uidsOf.get(keyId);
      uids?.delete(uid);
      if (uids?.size === 0) uidsOf.delete(keyId);
    }
  }

  return {
    get(uid, number, stored) {
      const known = threads.get(uid)?.byNumber.get(number);
      return known?.stored === stored ? known.opened : undefined;
    },

    set({ uid, number, keyIds }, text) {
      const thread = threads.get(uid) ?? { keyIds: new Set(), byNumber: new Map<number, Text>() };
      threads.set(uid, thread);
      for (const keyId of keyIds) {
        thread.keyIds.add(keyId);
        uidsOf.set(keyId, (uidsOf.get(keyId) ?? new Set<string>()).add(uid));
      }
      const before = thread.byNumber.get(number);
      if (before) chars -= charsOf(before);
      thread.byNumber.set(number, text);
      chars += charsOf(text);
      for (const [oldest] of threads) {
        if (chars <= mostChars) return;
        forgetThread(oldest);
      }
    },

    keysOf: (uid) => threads.get(uid)?.keyIds ?? NO_KEYS,

    forgetKey(keyId) {
      for (const uid of uidsOf.get(keyId) ?? []) forgetThread(uid);
    },

    forgetThread,
  };
}
