import { tell } from "./section.ts";

/** Nothing can be measured; the message says why, for a person who can fix it. No stack is printed. */
export class CannotMeasure extends Error {
  /** 2: incorrect use, as with commands of the system; 1: something does not start. */
  readonly exitCode: 1 | 2;

  constructor(sentence: string, { exitCode = 1 }: { exitCode?: 1 | 2 } = {}) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** The work's result; on CannotMeasure, prints the sentence to stderr and ends this process with its exit code. */
export async function orSayWhyNot<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CannotMeasure)) throw error;
    tell(error.message);
    process.exit(error.exitCode);
  }
}
