import { MAX_PAGE_CHARS } from "./told-page.ts";

/** The visitor's page in full, for this tab only. */
export function currentPage(): string {
  return (location.pathname + location.search).slice(0, MAX_PAGE_CHARS);
}
