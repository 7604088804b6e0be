import { ModelFault } from "../../model.ts";
import type { BodyReader } from "./pushed-response.ts";

/** Far longer than any refusal. What comes after it is not awaited. */
const MAX_ERROR_BYTES = 65_536;

/** Reads an answer with an error status, and resolves with as much of its text as arrived, up to a limit. */
export function errorReader(
  { status, headers }: { status: number; headers: Record<string, string | string[] | undefined> },
  {
    resolve,
    reject,
    leave,
  }: {
    resolve: (response: Response) => void;
    reject: (reason: unknown) => void;
    /** Reads no more. */
    leave: () => void;
  },
): BodyReader {
  const chunks: Buffer[] = [];
  let bytesRead = 0;
  const answer = () => {
    const text = Buffer.concat(chunks).toString("utf8", 0, MAX_ERROR_BYTES);
    resolve(new Response(text || null, { status, headers: headerLines(headers) }));
  };
  return {
    data(bytes) {
      chunks.push(bytes);
      bytesRead += bytes.length;
      if (bytesRead < MAX_ERROR_BYTES) return;
      leave();
      answer();
    },
    end: answer,
    failed: (error) => (error instanceof ModelFault ? reject(error) : answer()),
  };
}

function headerLines(raw: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(raw).flatMap(([name, value]) =>
    [value ?? []].flat().map((line): [string, string] => [name, line]),
  );
}
