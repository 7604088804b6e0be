import type { HttpRequest } from "../../listener.ts";
import { readBody } from "../body.ts";
import type { BodyShape, Reading } from "../body.ts";

/** How /messages and /tools, which count as one, come to the thread that their body names (the spec, Limits). */
export const asMessage = {
  counts: ["messages-by-token", "messages-by-address"],
  threadName: ({ threadId }: { threadId: string }) => threadId,
} as const;

/** How a widget route reads what a request says; the gate gives the refusals their turn. */
export function jsonBody<Body>(shape: BodyShape<Body>, limitBytes: number) {
  return (request: HttpRequest): Promise<Reading<Body>> => readBody(request, limitBytes, shape);
}

/** A POST without a body: what comes all the same is counted against the limit, and ignored. */
export function noBody(limitBytes: number) {
  return async (request: HttpRequest): Promise<Reading<null>> => {
    await request.body(limitBytes);
    return { ok: true, value: null };
  };
}

/** A GET that says nothing but its path. */
export async function nothingMore(): Promise<Reading<null>> {
  return { ok: true, value: null };
}
