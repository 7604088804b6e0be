/** Where the visitor is, as the service takes it. */
export function currentPage(): string {
  return (location.pathname + location.search).slice(0, 512);
}
