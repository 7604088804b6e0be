import { MAX_PAGE_CHARS } from "./told-page.ts";

/** The visitor's page as it is, for this tab. */
export function currentPage(): string {
  return (location.pathname + location.search).slice(0, MAX_PAGE_CHARS);
}
