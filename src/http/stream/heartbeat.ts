/** Twice this is the longest silence of a stream; proxies cut silent connections, the strictest after 20 or 30 s. */
const LOOK_MS = 7_000;

interface Stream {
  beat: () => void;
  /** Has it sent anything since the last tick? */
  hasSpoken: boolean;
}

/** One timer serves all streams: thousands may wait for a page or a model at a time. */
const streams = new Set<Stream>();
let timer: NodeJS.Timeout | null = null;

export interface Heartbeat {
  spoken(): void;
  stop(): void;
}

/** Calls `beat` while a stream is silent, so that 15 seconds never pass without a byte, until `stop`. */
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
