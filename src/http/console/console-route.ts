import type { HttpAnswer } from "../../listener.ts";
import { emptyAnswer, textAnswer } from "../route.ts";
import type { Route } from "../route.ts";
import { acceptsCoding } from "../stream/accepts-coding.ts";
import { loadConsoleFiles } from "./console-files.ts";
import type { ConsoleFile, Encoding } from "./console-files.ts";

/**
 * The page talks to no other site, runs no script but its own, and makes no markup of text: what a user or a model wrote
 * can only become text. Images: a message's own (data:, or blob: of one), and none by an address, which would tell its
 * host who reads.
 */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** GET /console, and the files of its page. Whatever they show comes from the operator API, which asks for a key. */
export function consoleRoutes(): Route[] {
  let files: ReturnType<typeof loadConsoleFiles> | null = null;
  const route = (path: string): Route => ({
    method: "GET",
    path,
    api: "open",
    documentation: "hidden",
    async handle({ request }) {
      const known = await (files ??= loadConsoleFiles()).catch(() => null);
      if (known === null) {
        // Tried again at the next request.
        files = null;
        return textAnswer(503, "The console was not built: npm run build builds it");
      }
      const file = known.get(request.path.slice("/console".length));
      return file === undefined ? emptyAnswer(404) : fileAnswer(file, request.headers.get("accept-encoding"));
    },
  });
  return [route("/console"), route("/console/*")];
}

function fileAnswer({ type, bodies, isImmutable }: ConsoleFile, accepted: string | undefined): HttpAnswer {
  const encoding = chosenEncoding(bodies, accepted);
  return {
    status: 200,
    headers: {
      ...HEADERS,
      "content-type": type,
      "cache-control": isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
      vary: "accept-encoding",
      ...(encoding === "identity" ? {} : { "content-encoding": encoding }),
    },
    body: bodies[encoding] ?? bodies.identity,
  };
}

function chosenEncoding(bodies: ConsoleFile["bodies"], accepted: string | undefined): Encoding {
  if (bodies.br && acceptsCoding("br", accepted)) return "br";
  if (bodies.gzip && acceptsCoding("gzip", accepted)) return "gzip";
  return "identity";
}
