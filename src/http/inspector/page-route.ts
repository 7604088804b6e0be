import type { PageFile } from "../../inspector/page-files.ts";
import { fileRoute } from "../route.ts";
import type { Route } from "../route.ts";

/**
 * The page talks to no other site, runs no script but its own, and makes no markup of text: what a user or a model wrote
 * can only become text.
 */
const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-cache",
};

/** A file of the inspector's page, for everybody. */
export function pageRoute(path: string, load: () => Promise<PageFile>): Route {
  return fileRoute(`/machines${path}`, async () => {
    const { type, body } = await load();
    return { status: 200, headers: { ...PAGE_HEADERS, "content-type": type }, body };
  });
}
