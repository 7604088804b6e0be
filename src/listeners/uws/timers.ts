/**
 * The two timers of an app. The build on the npm registry has a function for each, and waits 30 s without them; the official
 * build has none, and always waits 10 s.
 */
export interface UwsTimers {
  /** How long a connection without a request stays open, at least. */
  keepAliveMs: number;
  /** Runs the end of an answer, after which its connection is to be kept. */
  keeping: (end: () => void) => void;
}

/** For heads, bodies, and readers that take nothing. */
const IDLE_SECONDS = 10;
/** uWebSockets.js counts in steps of this, and a timer may end a step early. */
const GRAIN_SECONDS = 4;

export function timersOf(app: object, keepAliveMs: number): UwsTimers {
  const setIdle = setterOf(app, "setIdleTimeout");
  const setResponse = setterOf(app, "setResponseTimeout");
  setIdle?.(IDLE_SECONDS);
  if (!setResponse) {
    return {
      keepAliveMs: Math.min(keepAliveMs, (IDLE_SECONDS - GRAIN_SECONDS) * 1_000),
      keeping: (end) => end(),
    };
  }
  setResponse(IDLE_SECONDS);
  const keptSeconds = Math.ceil(keepAliveMs / 1_000) + GRAIN_SECONDS;
  return {
    keepAliveMs,
    /**
     * The timer of a response runs for a reader that takes nothing, and from the end of an answer on until the next request:
     * so its time is another one only while an answer ends.
     */
    keeping(end) {
      setResponse(keptSeconds);
      try {
        end();
      } finally {
        setResponse(IDLE_SECONDS);
      }
    },
  };
}

function setterOf(app: object, name: string): ((seconds: number) => void) | null {
  const set: unknown = Reflect.get(app, name);
  return typeof set === "function" ? (seconds) => void Reflect.apply(set, app, [seconds]) : null;
}
