/** The platform did not answer in time: whether it did what was asked is unknown. */
export class TimeoutError extends Error {
  constructor() {
    super("The platform did not answer in time");
    this.name = "TimeoutError";
  }
}

/** The adapters' requests have no bound of their own. */
export async function within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
