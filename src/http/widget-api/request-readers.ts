import type { HttpRequest } from "../../listener.ts";
import { bytesOf, readBody } from "../body.ts";
import type { BodyShape, Reading } from "../body.ts";

/**
 * The readers of widget routes: how a body or query is read. The gate answers their refusals in the order of the
 * checks.
 */
export function jsonBody<Body>(shape: BodyShape<Body>, limitBytes: number) {
  return (request: HttpRequest, mayBeLong: () => Promise<void>): Promise<Reading<Body>> =>
    readBody(request, limitBytes, shape, mayBeLong);
}

/** A POST without a body: a body that comes anyway counts against the limit and is ignored. */
export function ignoredBody(limitBytes: number) {
  return async (request: HttpRequest, mayBeLong: () => Promise<void>): Promise<Reading<null>> => {
    await bytesOf(request, limitBytes, mayBeLong);
    return { ok: true, value: null };
  };
}

/** A GET with neither body nor query. */
export async function noBody(): Promise<Reading<null>> {
  return { ok: true, value: null };
}
