import { connect } from "node:net";
import { pause } from "./load.ts";

/** A raw reader of a feed, so cheap that thousands of them do not affect the measurement. */
export interface OpenFeed {
  close(): void;
}

interface FeedRequest {
  port: number;
  path: string;
  headers: Record<string, string>;
  /** Gets everything after the first line as it arrives, including the framing. */
  onText?: (text: string) => void;
}

const TRIES = 10;

/** Resolves when the first line has arrived. Retries if the server says that it cannot serve now. */
export async function openFeed(options: FeedRequest): Promise<OpenFeed> {
  for (let tried = 1; ; tried++) {
    try {
      return await tryOpen(options);
    } catch (error) {
      if (tried === TRIES) throw error;
      await pause(1_000);
    }
  }
}

function tryOpen(options: FeedRequest): Promise<OpenFeed> {
  const { port, path, headers, onText } = options;
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join("")}\r\n`);
  let head = "";
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`Cannot keep a feed open: ${head.slice(0, 200)}`)));
    socket.on("data", (bytes) => {
      if (head.includes('"state"')) return onText?.(bytes.toString("latin1"));
      head += bytes.toString("latin1");
      if (head.startsWith("HTTP/1.1 5")) socket.destroy();
      if (head.includes('"state"')) resolve({ close: () => socket.destroy() });
    });
  });
}
