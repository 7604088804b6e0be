/** SIGTERM and SIGINT: the first asks for an orderly stop, the second does not wait for it (P29). */
export interface Signals {
  /** `retire`: another process has taken this one's place (PROCESSES). */
  first: Promise<NodeJS.Signals | "retire">;
  stop(): void;
}

const STOPPING = ["SIGTERM", "SIGINT"] as const;

export function watchForSignals(): Signals {
  let asked = false;
  let resolveFirst: (signal: NodeJS.Signals) => void;
  const first = new Promise<NodeJS.Signals>((resolve) => {
    resolveFirst = resolve;
  });
  const receive = (signal: NodeJS.Signals) => {
    if (asked) process.exit(1);
    asked = true;
    resolveFirst(signal);
  };
  for (const signal of STOPPING) process.on(signal, receive);
  return {
    first,
    stop() {
      for (const signal of STOPPING) process.off(signal, receive);
    },
  };
}
