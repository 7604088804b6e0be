/** Runs `read` one at a time. A call during a reading resolves after another reading, which began after the call. */
export function oneAtATime(read: () => Promise<void>): () => Promise<void> {
  let reading: Promise<void> | null = null;
  let again = false;

  async function readAll(): Promise<void> {
    try {
      do {
        again = false;
        await read();
      } while (again);
    } finally {
      reading = null;
    }
  }

  return () => {
    if (reading) again = true;
    else reading = readAll();
    return reading;
  };
}
