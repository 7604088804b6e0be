/** The API's own names for what a chat completion calls otherwise. */
const NAMES: Readonly<Record<string, string>> = {
  input: "messages",
  max_output_tokens: "max_completion_tokens",
  reasoning: "reasoning_effort",
};

/**
 * A place of a request to the Responses API, in a chat completion: `tools[3].parameters`, `reasoning.effort`. Items of
 * the input are more than messages, so a place in one is only known to be in the messages.
 */
export function chatPlace(path: readonly (string | number)[]): readonly (string | number)[] {
  const [top, ...rest] = path;
  if (top === undefined) return path;
  const named = typeof top === "string" && Object.hasOwn(NAMES, top) ? (NAMES[top] ?? top) : top;
  if (named === "tools" && rest.length > 1) {
    const [nth = "", ...within] = rest;
    return ["tools", nth, "function", ...within];
  }
  return named === top ? path : [named];
}
