/** Why a server cannot be used, and what to do, in words of ours alone: they stand in the log and in /health. */
export class Unusable extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, cause === undefined ? {} : { cause });
    this.name = "Unusable";
  }
}
