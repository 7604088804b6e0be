/** The service understood the request and said no: asking again is of no use. 429 only asks for time. */
export function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}
