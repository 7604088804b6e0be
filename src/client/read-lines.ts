import { readJsonLines } from "./core/json-lines.ts";
import { endedBySilence } from "./core/silence.ts";

/** Each line of an answer as it arrives. Ends or throws when the connection does; throws if it is silent for too long. */
export async function* readLines<Line>({ body }: Response): AsyncGenerator<Line> {
  if (body === null) return;
  // A cast: the service's lines are as the types say; the caller ignores those of an unknown type.
  for await (const line of readJsonLines(endedBySilence(body.getReader()))) yield line as Line;
}
