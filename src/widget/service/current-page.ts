/** The visitor's page, in the length that the service takes. */
export function currentPage(): string {
  return (location.pathname + location.search).slice(0, 512);
}
