/** Why the service did not do what was asked, in words for the reader. */
export class Problem extends Error {
  /** 0: it could not be reached. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "Problem";
    this.status = status;
  }
}

/** The service's own line where it wrote one: it knows best what is wrong. */
export async function problemOf(response: Response): Promise<Problem> {
  const said = (await response.text().catch(() => "")).trim();
  return new Problem(response.status, wordsFor(response.status, said, response.headers.get("retry-after")));
}

function wordsFor(status: number, said: string, retryAfter: string | null): string {
  switch (status) {
    case 401:
      return "This key is not valid. It may have been rotated or removed.";
    case 403:
      return "Your role, or the channels you are limited to, do not allow this.";
    case 404:
      return said === "" || said === "Not found" ? "It is not there." : `${said}.`;
    case 409:
      return said === "" || said === "Conflict" ? "It collides with what is there already." : `${said}.`;
    case 413:
      return "That is too long for the service.";
    case 422:
      return said === "" ? "The service does not take that." : `${said}.`;
    case 429:
      return `Too many wrong keys came from your address.${retryAfter === null ? "" : ` Try again in ${retryAfter} s.`}`;
    case 503:
      return "The service cannot do that right now. Try again in a moment.";
    default:
      return `The service answered ${status}. Its log says why.`;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The service cannot be reached, or not its store: it may answer in a moment. */
export function isAway(error: unknown): boolean {
  return error instanceof Problem && (error.status === 0 || error.status >= 502);
}

/** For what is asked to be deleted: it is not there any more. Rethrows any other error. */
export function isGone(error: unknown): void {
  if (!(error instanceof Problem && error.status === 404)) throw error;
}
