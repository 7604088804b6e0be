/**
 * How much text the long replies of this process may hold at once.
 *
 * A reply is held whole until it is saved, and saving it takes several times its size. While the long ones together
 * fit, nobody notices this; past that, a few go on to their ends, where their text is let go, and the other long ones
 * wait: their models are not read on, which stops the far end too. So memory is bounded, however many replies grow
 * however long, and short replies never wait. A run that waits is under its own time limit all the same.
 */
export interface ReplyRoom {
  /** A run's reply has so many characters now (UTF-16 units). A promise: it must not grow before that resolves. */
  grew(run: object, chars: number): Promise<void> | undefined;
  /** The run's text is saved, or no concern of this process any more. */
  left(run: object): void;
}

/** From here on a reply is long: some 32,000 tokens, which hardly any model writes. */
const LONG_CHARS = 131_072;
/** Of all long replies together. */
const ROOM_CHARS = 8_000_000;
/** Those that go on past it. Saving ten million characters takes some 80 MB, and as much again until it is collected. */
const AT_ONCE = 1;

export function createReplyRoom(
  room = { longChars: LONG_CHARS, chars: ROOM_CHARS, atOnce: AT_ONCE },
): ReplyRoom {
  const held = new Map<object, number>();
  /** Those that may grow though there is no room; none while there is. */
  const chosen = new Set<object>();
  /** In order of their coming. */
  const waiting = new Map<object, Turnstile>();
  let heldChars = 0;

  function letOn(run: object): void {
    waiting.get(run)?.open();
    waiting.delete(run);
  }

  function chooseNext(): void {
    if (heldChars < room.chars) {
      chosen.clear();
      for (const run of waiting.keys()) letOn(run);
    }
    for (const run of waiting.keys()) {
      if (chosen.size >= room.atOnce) return;
      chosen.add(run);
      letOn(run);
    }
  }

  return {
    grew(run, chars) {
      if (chars < room.longChars) return undefined;
      heldChars += chars - (held.get(run) ?? 0);
      held.set(run, chars);
      if (heldChars < room.chars || chosen.has(run)) return undefined;
      if (chosen.size < room.atOnce) {
        chosen.add(run);
        return undefined;
      }
      const known = waiting.get(run);
      if (known) return known.opened;
      const turnstile = createTurnstile();
      waiting.set(run, turnstile);
      return turnstile.opened;
    },

    left(run) {
      if (!held.has(run)) return;
      heldChars -= held.get(run) ?? 0;
      held.delete(run);
      chosen.delete(run);
      letOn(run);
      chooseNext();
    },
  };
}

interface Turnstile {
  readonly opened: Promise<void>;
  open(): void;
}

function createTurnstile(): Turnstile {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
