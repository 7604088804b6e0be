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
