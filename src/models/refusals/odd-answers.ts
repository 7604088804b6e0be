import type { PlainLog } from "../../log.ts";
import type { Oddity } from "../reply/read-turn.ts";

/** A model's odd answer, for the metrics. */
export interface OddAnswer {
  provider: string;
  model: string;
  oddity: Oddity;
}

/** The oddities as the log names them, each with what an operator can do. */
const WORDS: Record<Oddity, string> = {
  call_as_text:
    'a model writes its calls as text, and its server makes none of it: set "textCalls": true for its provider in PROVIDERS_FILE, or give its server a parser for tool calls',
  call_without_name:
    "a model's call has no name and is left out: its server's parser for tool calls may be the wrong one",
  compressed:
    "a model's answers come compressed, though that is not asked for: text may come late, so turn compression off in its server or in the proxy before it",
  no_finish_reason:
    "a model's answer ended without a finish_reason, and counts as whole: something between here and its server may have cut it short",
  text_after_end: "a model's server sent text or calls after the answer's end: they are left out",
};

/** One warning an hour for each model and oddity. */
const SILENT_MS = 3_600_000;
/** More names than channels use. */
const MAX_KNOWN = 1_000;

/** Returns a function that counts an odd answer, and warns of the first of its kind. */
export function openOddAnswers({
  log,
  onOdd = () => {},
  elapsed = () => performance.now(),
}: {
  log: Pick<PlainLog, "warn">;
  onOdd?: ((odd: OddAnswer) => void) | undefined;
  /** Monotonic ms. */
  elapsed?: () => number;
}): (odd: OddAnswer) => void {
  const warnedAtMs = new Map<string, number>();
  return (odd) => {
    onOdd(odd);
    const { provider, model, oddity } = odd;
    const key = `${oddity} ${provider}/${model}`;
    const lastMs = warnedAtMs.get(key);
    if (lastMs !== undefined && elapsed() - lastMs < SILENT_MS) return;
    if (warnedAtMs.size >= MAX_KNOWN) warnedAtMs.clear();
    warnedAtMs.set(key, elapsed());
    log.warn({ model: `${provider}/${model}`, oddity }, WORDS[oddity]);
  };
}
