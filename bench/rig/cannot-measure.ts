import { tell } from "./section.ts";

/** Nothing can be measured, for a reason that its sentence tells and a person can mend: no stack is shown. */
export class CannotMeasure extends Error {
  /** 2: what was asked for is not there, as with a command of the system; 1: what was asked for does not start. */
  readonly exitCode: 1 | 2;

  constructor(sentence: string, { exitCode = 1 }: { exitCode?: 1 | 2 } = {}) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** What this work comes to; where it cannot measure, the sentence goes to stderr and this process ends with its exit code. */
export async function orSayWhyNot<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CannotMeasure)) throw error;
    tell(error.message);
    process.exit(error.exitCode);
  }
}
