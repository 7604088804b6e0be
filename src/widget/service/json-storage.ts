/**
 * Small JSON values under names with this element's prefix. A browser may refuse storage (private windows, blocked
 * cookies, a sandboxed frame); the values then live as long as the page.
 */
export interface JsonStorage {
  read(name: string): unknown;
  /** null removes. */
  write(name: string, value: unknown): void;
  /** Is another tab's storage event about this name in this storage? */
  owns(event: StorageEvent, name: string): boolean;
}

export function openStorage(kind: "local" | "session" | "memory", prefix: string): JsonStorage {
  const inMemory = new Map<string, string>();
  const storage = storageOf(kind);
  return {
    read(name) {
      const key = prefix + name;
      return parse(inMemory.get(key) ?? attempt(() => storage?.getItem(key)) ?? null);
    },
    write(name, value) {
      const key = prefix + name;
      if (value === null) {
        inMemory.delete(key);
        attempt(() => storage?.removeItem(key));
        return;
      }
      const text = JSON.stringify(value);
      const isStored = attempt(() => (storage === null ? false : (storage.setItem(key, text), true)));
      if (isStored) inMemory.delete(key);
      else inMemory.set(key, text);
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

/** undefined if storage throws: treated as missing. */
function attempt<Value>(use: () => Value): Value | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
