interface Line {
  type: string;
  state?: string;
  item?: { content: string };
}

/** A visitor's feed, read as it comes. */
export function readFeed(url: string, headers: Record<string, string>) {
  const leaving = new AbortController();
  const lines: Line[] = [];
  let heard = () => {};
  const reading = (async () => {
    const { body } = await fetch(url, { headers, signal: leaving.signal });
    let rest = "";
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) if (part !== "") lines.push(JSON.parse(part) as Line);
      heard();
    }
  })();
  reading.catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error;
  });
  return {
    lines,
    /** False: it did not come to that in time. */
    until(holds: (lines: readonly Line[]) => boolean, withinMs: number): Promise<boolean> {
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), withinMs);
        heard = () => {
          if (!holds(lines)) return;
          clearTimeout(timer);
          resolve(true);
        };
        heard();
      });
    },
    leave: () => leaving.abort(),
  };
}
