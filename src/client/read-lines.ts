import { readJsonLines } from "./core/json-lines.ts";
import { endedBySilence } from "./core/silence.ts";

/** Each line of an answer as it comes. Ends, or throws, where the connection does, or where it is silent for too long. */
export async function* readLines<Line>({ body }: Response): AsyncGenerator<Line> {
  if (body === null) return;
  // A cast: the service's lines are what the types say; one of a type that is not known is the caller's to pass over.
  for await (const line of readJsonLines(endedBySilence(body.getReader()))) yield line as Line;
}
