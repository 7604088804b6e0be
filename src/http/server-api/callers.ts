import { bearerFrom, keyCheck } from "../../admission/keys.ts";
import type { Config } from "../../config.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { HttpRequest } from "../../listener.ts";
import type { Secret } from "../../secret.ts";
import { readBody, taken } from "../body.ts";
import type { BodyShape } from "../body.ts";

/** What a transport's request must show, in the order of the checks: the declared length (413), the key (401), the body (422). */
export interface Callers {
  /** Throws Refusal("too-large") where the declared length is over SERVER_MAX_BODY_BYTES. */
  mustBeShort(request: HttpRequest): void;
  /** The key of the authorization header. */
  bearer(request: HttpRequest): string;
  /** A transport's body. */
  transport<Body>(request: HttpRequest, shape: BodyShape<Body>): Promise<Body>;
  body<Body>(request: HttpRequest, shape: BodyShape<Body>): Promise<Body>;
}

export function createCallers(options: {
  transportKey: Secret;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Callers {
  const { transportKey, config } = options;
  const isTransportKey = keyCheck(transportKey);

  function mustBeShort(request: HttpRequest): void {
    if ((request.contentLength ?? 0) > config.serverMaxBodyBytes) throw new Refusal("too-large");
  }

  function bearer(request: HttpRequest): string {
    const key = bearerFrom(request.headers.get("authorization"));
    if (key === null) throw new Refusal("unauthorized");
    return key;
  }

  async function body<Body>(request: HttpRequest, shape: BodyShape<Body>): Promise<Body> {
    return taken(await readBody(request, config.serverMaxBodyBytes, shape));
  }

  return {
    mustBeShort,
    bearer,
    body,
    async transport(request, shape) {
      mustBeShort(request);
      if (!isTransportKey(bearer(request))) throw new Refusal("unauthorized");
      return body(request, shape);
    },
  };
}
