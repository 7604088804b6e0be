/**
 * Messages as this process last opened or sealed them, by their key: each new message reads its thread's whole tail,
 * which differs only at its end. A lookup brings the sealed text, so that a text that has changed in the store is
 * opened again. Texts are dropped with their key.
 */
export interface OpenedTexts {
  get(at: { keyId: string; uid: string; place: string }, sealed: string): string | undefined;
  set(at: { keyId: string; uid: string; place: string }, text: { sealed: string; opened: string }): void;
  forgetKey(keyId: string): void;
  forgetThread(uid: string): void;
}

interface Text {
  sealed: string;
  opened: string;
}

/** By place. */
type ThreadTexts = Map<string, Text>;

const charsOf = ({ sealed, opened }: Text): number => sealed.length + opened.length;

/** `mostChars`: for all texts, sealed and opened; beyond it the texts of the oldest key are dropped. */
export function openedTexts(mostChars: number): OpenedTexts {
  const byKey = new Map<string, Map<string, ThreadTexts>>();
  let chars = 0;

  function release(texts: ThreadTexts | undefined): void {
    for (const text of texts?.values() ?? []) chars -= charsOf(text);
  }

  function forgetKey(keyId: string): void {
    for (const texts of byKey.get(keyId)?.values() ?? []) release(texts);
    byKey.delete(keyId);
  }

  function textsOf(keyId: string, uid: string): ThreadTexts {
    const threads = byKey.get(keyId) ?? new Map<string, ThreadTexts>();
    byKey.set(keyId, threads);
    const texts = threads.get(uid) ?? new Map<string, Text>();
    threads.set(uid, texts);
    return texts;
  }

  return {
    get({ keyId, uid, place }, sealed) {
      const known = byKey.get(keyId)?.get(uid)?.get(place);
      return known?.sealed === sealed ? known.opened : undefined;
    },

    set({ keyId, uid, place }, text) {
      const texts = textsOf(keyId, uid);
      const before = texts.get(place);
      if (before) chars -= charsOf(before);
      texts.set(place, text);
      chars += charsOf(text);
      for (const [oldest] of byKey) {
        if (chars <= mostChars) return;
        forgetKey(oldest);
      }
    },

    forgetKey,

    forgetThread(uid) {
      for (const threads of byKey.values()) {
        release(threads.get(uid));
        threads.delete(uid);
      }
    },
  };
}
