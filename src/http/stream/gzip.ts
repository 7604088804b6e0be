import type { Outlet } from "../../listener.ts";
import { encodeWithZlib } from "./gzip-encoders.ts";
import type { MakeEncoder } from "./gzip-encoders.ts";

/** 2,000 compressed streams use 160 MB in zlib. */
export const COMPRESSING_MAX = 2_000;

let compressing = 0;

/** The number of streams that hold zlib memory now. */
export function compressingStreams(): number {
  return compressing;
}

/** False at the limit of compressed streams: further streams are sent uncompressed. */
export function mayCompress(): boolean {
  return compressing < COMPRESSING_MAX;
}

/**
 * Wraps the outlet of an answer with `content-encoding: gzip`. Each write is flushed, so that its reader sees the line
 * at once; the header of the gzip stream is sent first of all, and status and headers with it.
 */
export function gzipOutlet(outlet: Outlet, make: MakeEncoder = encodeWithZlib): Outlet {
  compressing++;
  let state: "open" | "ending" | "over" = "open";
  let onGone: (() => void) | null = null;

  const release = (): void => {
    state = "over";
    compressing--;
  };
  const encoder = make({
    pass: (bytes) => outlet.write(bytes),
    finish: () => {
      release();
      outlet.end();
    },
  });
  outlet.onGone(() => {
    if (state === "over") return;
    const notify = state === "open" ? onGone : null;
    release();
    encoder.abort();
    notify?.();
  });

  const write = (chunk: string | Uint8Array): void => {
    if (state !== "open" || chunk.length === 0) return;
    encoder.write(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  };
  return {
    write,
    end(chunk) {
      if (state !== "open") return;
      if (chunk !== undefined) write(chunk);
      state = "ending";
      encoder.end();
    },
    onDrained: (callback) => outlet.onDrained(callback),
    pull: (next) => outlet.pull(next),
    cut: () => outlet.cut(),
    onGone(callback) {
      onGone = callback;
      if (state !== "open") outlet.onGone(callback);
    },
  };
}
