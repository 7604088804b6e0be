/** Longest line or event: anything longer is not this format. Far above any whole tool call. */
const MAX_EVENT_CHARS = 4_194_304;

const LINE_END = /\r\n|\n|\r/;

export interface SseParser {
  /** Takes bytes cut at any offset. Throws what `onData` throws, and if an event does not end. */
  push(bytes: Uint8Array): void;
  /** The stream is over: the data of an event that has not ended yet, its last line whole or not; null: none. */
  rest(): string | null;
}

/**
 * Server-sent events, pushed: calls `onData` with the data of each complete event, its lines joined by newlines. Event
 * names, ids and retry are not read.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 *
 * Some servers end an event with one newline, not with a blank line. So a line whose data stands alone ends with the next
 * line of data, too; and the event that the end of the stream cuts off is not dropped, but told by `rest`, since it may
 * lack nothing but its blank line.
 */
export function sseParser(
  onData: (data: string) => void,
  standsAlone: (data: string) => boolean = () => false,
): SseParser {
  // Drops the BOM, and keeps the bytes of an incomplete character for the next push.
  const decoder = new TextDecoder();
  /** The line that has not ended yet. */
  let line = "";
  /** The event's data lines so far; null: none. */
  let data: string | null = null;
  /** Lines were joined: they are one event up to its blank line, so none of them is looked at again. */
  let isJoined = false;
  /** The last text ended in a CR: a following LF belongs to it. */
  let endedInCr = false;

  function endEvent(): void {
    const ended = data;
    data = null;
    isJoined = false;
    if (ended !== null) onData(ended);
  }

  function endLine(): void {
    if (line === "") endEvent();
    else if (line.startsWith("data:")) add(line.slice(line.charCodeAt(5) === 32 ? 6 : 5));
    else if (line === "data") add("");
    line = "";
  }

  function add(value: string): void {
    if (data !== null && !isJoined && standsAlone(data)) endEvent();
    isJoined = data !== null;
    data = data === null ? value : `${data}\n${value}`;
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

    rest() {
      if (line !== "") endLine();
      return data;
    },
  };
}
