/** Twice this is the longest silence of a stream; proxies cut what is silent for longer, the strictest after 20 s or 30. */
const LOOK_MS = 7_000;

interface Stream {
  beat: () => void;
  /** Since the last look. */
  hasSpoken: boolean;
}

/** One timer looks after all streams: thousands may wait for a page or a model at a time. */
const streams = new Set<Stream>();
let timer: NodeJS.Timeout | null = null;

export interface Heartbeat {
  spoken(): void;
  stop(): void;
}

/** Calls `beat` while a stream says nothing, so that 15 seconds never pass without a byte, until `stop`. */
export function heartbeat(beat: () => void): Heartbeat {
  const stream: Stream = { beat, hasSpoken: true };
  streams.add(stream);
  timer ??= setInterval(look, LOOK_MS).unref();
  return {
    spoken() {
      stream.hasSpoken = true;
    },
    stop() {
      streams.delete(stream);
      if (streams.size > 0 || timer === null) return;
      clearInterval(timer);
      timer = null;
    },
  };
}

function look(): void {
  for (const stream of streams) {
    if (!stream.hasSpoken) stream.beat();
    stream.hasSpoken = false;
  }
}
