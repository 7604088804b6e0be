/**
 * A place for small JSON values under names of this element's own. A browser may refuse storage (private windows,
 * blocked cookies, a sandboxed frame): the values then live as long as the page.
 */
export interface Shelf {
  read(name: string): unknown;
  /** null removes. */
  write(name: string, value: unknown): void;
  /** True where another tab's storage event is about that name on this shelf. */
  owns(event: StorageEvent, name: string): boolean;
}

export function openShelf(kind: "local" | "session" | "memory", prefix: string): Shelf {
  const kept = new Map<string, string>();
  const storage = storageOf(kind);
  return {
    read(name) {
      const key = prefix + name;
      return parse(kept.get(key) ?? attempt(() => storage?.getItem(key)) ?? null);
    },
    write(name, value) {
      const key = prefix + name;
      if (value === null) {
        kept.delete(key);
        attempt(() => storage?.removeItem(key));
        return;
      }
      const text = JSON.stringify(value);
      const stored = attempt(() => (storage === null ? false : (storage.setItem(key, text), true)));
      if (stored) kept.delete(key);
      else kept.set(key, text);
    },
    owns: (event, name) =>
      event.storageArea === storage && (event.key === prefix + name || event.key === null),
  };
}

function storageOf(kind: "local" | "session" | "memory"): Storage | null {
  if (kind === "memory") return null;
  return attempt(() => (kind === "local" ? localStorage : sessionStorage)) ?? null;
}

function parse(text: string | null): unknown {
  return text === null ? null : attempt((): unknown => JSON.parse(text));
}

/** Storage that throws is storage that is not there. */
function attempt<Value>(use: () => Value): Value | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
