import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { Transform } from "node:stream";
import { notUnderstood } from "../faults.ts";
import type { BodyReader } from "./pushed-response.ts";

/**
 * Decodes a compressed body as it arrives. `identity` is asked for, but some proxies compress whatever comes by.
 *
 * undici's own interceptor is not used: it is experimental, which it says on stderr, and stands in the way of every answer.
 */
export interface Decoder {
  write(bytes: Buffer): void;
  /** No more comes: tells the rest, and then the end, or the error that cut the body off. */
  end(error?: unknown): void;
  pause(paused: boolean): void;
  /** Nothing more is told. */
  drop(): void;
}

export interface DecodedReader extends BodyReader {
  /** It has as much as it takes: nothing should be written before this is called with false. */
  full(isFull: boolean): void;
}

/** Of a whole answer: more than a million tokens, each in a chunk of its own. */
const MAX_DECODED_BYTES = 268_435_456;

/** What has come is decoded also where the end of the data is missing. */
const LENIENT = { finishFlush: constants.Z_SYNC_FLUSH };
const LENIENT_BROTLI = { finishFlush: constants.BROTLI_OPERATION_FLUSH };

type Open = (first: Buffer) => Transform;

/** RFC 9110, 8.4.1, and brotli. */
const CODINGS: ReadonlyMap<string, Open> = new Map<string, Open>([
  ["gzip", () => createGunzip(LENIENT)],
  ["x-gzip", () => createGunzip(LENIENT)],
  // Some servers leave the wrapper out; with it the first byte says so (RFC 1950, 2.2).
  ["deflate", ([first = 0]) => ((first & 0x0f) === 8 ? createInflate(LENIENT) : createInflateRaw(LENIENT))],
  ["br", () => createBrotliDecompress(LENIENT_BROTLI)],
]);

/** The coding of a body; null: none. `none` and an empty name are sent by servers that want no proxy to compress. */
export function codingOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const names = [header].flat().flatMap((line) => line.split(","));
  const codings = names
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !["", "identity", "none"].includes(name));
  return codings.length === 0 ? null : codings.join(", ");
}

/** Null: a coding that cannot be decoded. */
export function openDecoder(coding: string, reader: DecodedReader): Decoder | null {
  const open = CODINGS.get(coding);
  return open ? decoderOf(open, reader) : null;
}

function decoderOf(open: Open, reader: DecodedReader): Decoder {
  let stream: Transform | null = null;
  let isPaused = false;
  let isOver = false;
  let decoded = 0;
  let cutOff: { error: unknown } | null = null;

  function fail(error: unknown): void {
    if (isOver) return;
    isOver = true;
    stream?.destroy();
    reader.failed(notUnderstood(error));
  }

  function finish(): void {
    if (isOver) return;
    isOver = true;
    if (cutOff) reader.failed(cutOff.error);
    else reader.end();
  }

  function begin(first: Buffer): Transform {
    const begun = open(first);
    begun.on("data", (bytes: Buffer) => {
      decoded += bytes.length;
      if (decoded > MAX_DECODED_BYTES) fail(new Error("Cannot read the answer: decoded, it is too long"));
      else if (!isOver) reader.data(bytes);
    });
    begun.on("end", finish);
    begun.on("error", fail);
    begun.on("drain", () => reader.full(false));
    if (isPaused) begun.pause();
    return begun;
  }

  return {
    write(bytes) {
      if (isOver) return;
      stream ??= begin(bytes);
      if (!stream.write(bytes)) reader.full(true);
    },
    end(error) {
      if (error !== undefined) cutOff = { error };
      if (stream) stream.end();
      else finish();
    },
    pause(paused) {
      isPaused = paused;
      if (paused) stream?.pause();
      else stream?.resume();
    },
    drop() {
      isOver = true;
      stream?.destroy();
    },
  };
}
