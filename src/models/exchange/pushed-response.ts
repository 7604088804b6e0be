/** Receives a body as it arrives. */
export interface BodyReader {
  data(bytes: Buffer): void;
  end(): void;
  /** Instead of `end`: the connection was lost, or the request was aborted. */
  failed(error: unknown): void;
}

/** The source of a body; the methods are those of PushedResponse. */
export interface PushSource {
  readBy(reader: BodyReader): void;
  pause(paused: boolean): void;
  leave(): void;
  drop(): void;
}

/** A successful answer (2xx); `read` gives its body. */
export class PushedResponse {
  readonly status: number;
  /** The body came compressed or otherwise encoded, though nobody asked for it; null: it did not. */
  readonly coding: string | null;
  /** Nobody here can decode it. */
  readonly isEncoded: boolean;
  readonly #source: PushSource;

  constructor(
    source: PushSource,
    { status, coding = null, isEncoded }: { status: number; coding?: string | null; isEncoded: boolean },
  ) {
    this.status = status;
    this.coding = coding;
    this.isEncoded = isEncoded;
    this.#source = source;
  }

  /** Gives the body to its only reader: what has arrived at once, the rest as it arrives. */
  read(reader: BodyReader): void {
    this.#source.readBy(reader);
  }

  /** While paused, only bytes that are already on their way are read. */
  pause(paused: boolean): void {
    this.#source.pause(paused);
  }

  /** The reader has all it needs: the rest is dropped, and the connection is closed unless the answer ends soon. */
  leave(): void {
    this.#source.leave();
  }

  /** Stops reading and closes the connection. */
  drop(): void {
    this.#source.drop();
  }
}

/** A Response: the status is an error's. */
export type Posted = PushedResponse | Response;
