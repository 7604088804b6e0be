/** The service understood the request and refused it: a retry is of no use. 429 only asks to wait. */
export function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}
