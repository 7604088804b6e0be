/** What is stored is not the record that it must be: written by another hand, or damaged. */
export class UnreadableRecord extends Error {
  constructor(kind: string, place: string, fact: string) {
    super(`Cannot read the ${kind} at ${place}: ${fact}`);
    this.name = "UnreadableRecord";
  }
}

/**
 * What is stored was written by a newer version of the service, which serves beside this one or did before. It is left as it
 * is; callers are answered 503, and land on an instance that can read it.
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
 * What is stored is encrypted, and cannot be opened here: CONTENT_KEYS lacks its key, or it is damaged. It is left as it is, as
 * what a newer version wrote: callers are answered 503, and it can be read again when the key is back.
 */
export class LockedRecord extends NewerRecord {
  constructor(kind: string, place: string, fact: string) {
    super(kind, place, 0);
    this.message = `Cannot read the ${kind} at ${place}: ${fact}`;
    this.name = "LockedRecord";
  }
}
