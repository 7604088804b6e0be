/** Longest line or event: anything longer is not this format. Far above any whole tool call. */
const MAX_EVENT_CHARS = 4_194_304;

const LINE_END = /\r\n|\n|\r/;

export interface SseParser {
  /** Takes bytes cut at any offset. Throws what `onData` throws, and if an event does not end. */
  push(bytes: Uint8Array): void;
}

/**
 * Server-sent events, pushed: calls `onData` with the data of each complete event, its lines joined by newlines. An
 * event without its closing blank line is dropped, as the format requires. Event names, ids and retry are not read.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export function sseParser(onData: (data: string) => void): SseParser {
  // Drops the BOM, and keeps the bytes of an incomplete character for the next push.
  const decoder = new TextDecoder();
  /** The line that has not ended yet. */
  let line = "";
  /** The event's data lines so far; null: none. */
  let data: string | null = null;
  /** The last text ended in a CR: a following LF belongs to it. */
  let endedInCr = false;

  function endLine(): void {
    if (line === "") {
      if (data !== null) onData(data);
      data = null;
    } else if (line.startsWith("data:")) {
      const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5);
      data = data === null ? value : `${data}\n${value}`;
    } else if (line === "data") {
      data = data === null ? "" : `${data}\n`;
    }
    line = "";
  }

  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      if (text === "") return;
      // Searches only the new text, so a line that arrives byte by byte is not searched again and again.
      const parts = (endedInCr && text.startsWith("\n") ? text.slice(1) : text).split(LINE_END);
      endedInCr = text.endsWith("\r");
      const rest = parts.pop() ?? "";
      for (const part of parts) {
        line += part;
        endLine();
      }
      line += rest;
      if (line.length + (data?.length ?? 0) > MAX_EVENT_CHARS)
        throw new Error("Cannot read events: one has no end");
    },
  };
}
