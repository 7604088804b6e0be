import type { HttpRequest } from "../../listener.ts";
import { bytesOf, readBody } from "../body.ts";
import type { BodyShape, Reading } from "../body.ts";

/** How a widget route reads what a request says. The gate gives the refusals their turn. */
export function jsonBody<Body>(shape: BodyShape<Body>, limitBytes: number) {
  return (request: HttpRequest, mayBeLong: () => Promise<void>): Promise<Reading<Body>> =>
    readBody(request, limitBytes, shape, mayBeLong);
}

/** A POST without a body: what comes all the same is counted against the limit, and ignored. */
export function ignoredBody(limitBytes: number) {
  return async (request: HttpRequest, mayBeLong: () => Promise<void>): Promise<Reading<null>> => {
    await bytesOf(request, limitBytes, mayBeLong);
    return { ok: true, value: null };
  };
}

/** A GET that says nothing but its path. */
export async function noBody(): Promise<Reading<null>> {
  return { ok: true, value: null };
}
