/** A stored record does not have the expected shape: it is damaged, or something else wrote it. */
export class UnreadableRecord extends Error {
  constructor(kind: string, place: string, fact: string) {
    super(`Cannot read the ${kind} at ${place}: ${fact}`);
    this.name = "UnreadableRecord";
  }
}

/**
 * A record was written by a newer version of the service, which runs beside this one or ran before. It is left unchanged;
 * callers get 503, and retry on an instance that can read it.
 */
export class NewerRecord extends UnreadableRecord {
  readonly version: number;

  constructor(kind: string, place: string, version: number) {
    super(kind, place, `its version ${version} is newer than this service`);
    this.name = "NewerRecord";
    this.version = version;
  }
}

/**
 * A record is encrypted and cannot be opened here: CONTENT_KEYS lacks its key, or it is damaged. It is left unchanged, like a
 * record of a newer version: callers get 503, and it can be read again when the key is back.
 */
export class LockedRecord extends NewerRecord {
  constructor(kind: string, place: string, fact: string) {
    super(kind, place, 0);
    this.message = `Cannot read the ${kind} at ${place}: ${fact}`;
    this.name = "LockedRecord";
  }
}

/**
 * The part of the store that has a record does not answer, while others do: a shard of a cluster is away. The record is left
 * alone, like one of a newer version: callers get 503, and it can be read again when that part is back.
 */
export class AwayRecord extends NewerRecord {
  constructor(kind: string, place: string) {
    super(kind, place, 0);
    this.message = `Cannot read the ${kind} ${place}: the part of the store that has it does not answer`;
    this.name = "AwayRecord";
  }
}
