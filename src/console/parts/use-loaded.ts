import { useEffect, useState } from "preact/hooks";
import { mayAskAgain } from "../service/may-ask-again.ts";
import { messageOf } from "../service/problem.ts";

/** A request to the service, and its result. */
export interface Loaded<Value> {
  value: Value | null;
  trouble: string | null;
  /** Requests again; the current value stays until the answer arrives. */
  reload: () => void;
  /** Replaces the value, with the answer to a change. */
  set: (value: Value) => void;
}

/** Requests when the inputs change, and again while the service is away; a late answer is dropped. */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
): Loaded<Value> {
  const [state, setState] = useState<{ inputs: string; value: Value | null; trouble: string | null }>({
    inputs: "",
    value: null,
    trouble: null,
  });
  const [round, setRound] = useState(0);
  const asked = JSON.stringify(inputs);
  useEffect(() => {
    const asking = new AbortController();
    load(asking.signal).then(
      (value) => !asking.signal.aborted && setState({ inputs: asked, value, trouble: null }),
      async (error: unknown) => {
        if (asking.signal.aborted) return;
        setState((before) => ({
          inputs: asked,
          value: before.inputs === asked ? before.value : null,
          trouble: messageOf(error),
        }));
        if (await mayAskAgain(error, asking.signal)) setRound((before) => before + 1);
      },
    );
    return () => asking.abort();
  }, [asked, round]);
  const isOfNow = state.inputs === asked;
  return {
    value: isOfNow ? state.value : null,
    trouble: isOfNow ? state.trouble : null,
    reload: () => setRound((before) => before + 1),
    set: (value) => setState({ inputs: asked, value, trouble: null }),
  };
}
