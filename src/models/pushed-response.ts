/** Takes a body as it comes. */
export interface BodyReader {
  data(bytes: Buffer): void;
  end(): void;
  /** Instead of `end`: the connection was lost, or the request was aborted. */
  failed(error: unknown): void;
}

/** Where a body comes from; the methods are those of PushedResponse. */
export interface PushSource {
  readBy(reader: BodyReader): void;
  pause(paused: boolean): void;
  leave(): void;
  drop(): void;
}

/** A good answer (2xx): its body comes by `read`. It has no headers: web headers cost 1 µs each, and nobody reads them. */
export class PushedResponse extends Response {
  /** It is compressed, or otherwise not as it was written. */
  readonly isEncoded: boolean;
  readonly #source: PushSource;

  constructor(source: PushSource, { status, isEncoded }: { status: number; isEncoded: boolean }) {
    super(null, { status });
    this.isEncoded = isEncoded;
    this.#source = source;
  }

  /** Gives the body to its one reader: at once what has come, and the rest as it comes. */
  read(reader: BodyReader): void {
    this.#source.readBy(reader);
  }

  /** While paused, nothing more is read than what is on its way already. */
  pause(paused: boolean): void {
    this.#source.pause(paused);
  }

  /** The reader has all it wants: the rest is dropped, and where it does not end soon the connection is closed. */
  leave(): void {
    this.#source.leave();
  }

  /** Nobody reads on: the connection is closed. */
  drop(): void {
    this.#source.drop();
  }
}
