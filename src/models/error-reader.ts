import { ModelFault } from "../model.ts";
import type { BodyReader } from "./pushed-response.ts";

/** The text of an error is read for the log only. */
const MAX_ERROR_BYTES = 65_536;

/** Reads an answer with an error status, and resolves with as much of its text as arrived. */
export function errorReader(
  { status, headers }: { status: number; headers: Record<string, string | string[] | undefined> },
  resolve: (response: Response) => void,
  reject: (reason: unknown) => void,
): BodyReader {
  const chunks: Buffer[] = [];
  let bytesRead = 0;
  const answer = () => {
    const text = Buffer.concat(chunks).toString();
    resolve(new Response(text || null, { status, headers: headerLines(headers) }));
  };
  return {
    data(bytes) {
      if (bytesRead < MAX_ERROR_BYTES) chunks.push(bytes);
      bytesRead += bytes.length;
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
