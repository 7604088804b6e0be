import { StoreUnavailable } from "../../store.ts";

const TRIES = 20;

/** Repeats an attempt until it has an answer; undefined: what it had read has changed. Others may do that for ever. */
export async function untilApplied<T>(action: string, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
  }
  throw new StoreUnavailable(action, { fact: "it changes again and again" });
}
