/** The service writes something every 15 seconds: after three times that a connection is dead. */
const DEAD_AFTER_MS = 45_000;

/** Each line of an answer as it comes. Ends, or throws, where the connection does. */
export async function* readLines<Line>(response: Response): AsyncGenerator<Line> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await alive(reader.read());
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      // A cast: the service's lines are what the types say; one of a type that is not known is the caller's to pass over.
      for (const line of lines) yield JSON.parse(line) as Line;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function alive<Value>(reading: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const dead = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The connection is dead")), DEAD_AFTER_MS);
  });
  try {
    return await Promise.race([reading, dead]);
  } finally {
    clearTimeout(timer);
  }
}
