import { Problem } from "./problem.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** What browsers with a file dialog of their own offer to pages; not all do. */
interface WithFilePicker {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/** A download under way: how to end it, and who is told how far it is. */
export interface Saving {
  signal: AbortSignal;
  onBytes: (bytes: number) => void;
}

/**
 * Saves a body as a file; false: whoever was asked for a place wants none. It goes to the disk as it comes where the
 * browser can, and else into its own store of downloads. A file that is there is whole.
 */
export async function saveAs(
  name: string,
  open: () => Promise<ReadableStream<Bytes>>,
  saving: Saving,
): Promise<boolean> {
  const place = await choosePlace(name);
  if (place === "none") return false;
  const body = async () => (await open()).pipeThrough(wholeLines(saving.onBytes), { signal: saving.signal });
  if (place === "downloads") {
    download(name, await new Response(await body()).blob());
    return true;
  }
  const file = await place.createWritable();
  try {
    // Nothing is in the file's place before it is closed, which a body that breaks does not come to.
    await (await body()).pipeTo(file);
  } catch (error) {
    await file.abort().catch(() => {});
    throw error;
  }
  return true;
}

/** Asked before anything is fetched: a browser lets a page ask right after a press alone. */
async function choosePlace(name: string): Promise<FileSystemFileHandle | "downloads" | "none"> {
  // A cast: TypeScript's types know what all browsers have.
  const { showSaveFilePicker: choose } = globalThis as WithFilePicker;
  if (!choose) return "downloads";
  try {
    return await choose.call(globalThis, { suggestedName: name });
  } catch (error) {
    return error instanceof DOMException && error.name === "AbortError" ? "none" : "downloads";
  }
}

/** Saves what is there already, in the browser's own folder of downloads. */
export function download(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser reads it for a while after the press.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const LINE_END = 10;

/** Fails where the last line has no end: the service was interrupted. */
function wholeLines(onBytes: (bytes: number) => void): TransformStream<Bytes, Bytes> {
  let bytes = 0;
  let last = LINE_END;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      last = chunk.at(-1) ?? last;
      onBytes(bytes);
      controller.enqueue(chunk);
    },
    flush() {
      if (last !== LINE_END)
        throw new Problem(0, "The export broke off, and nothing of it was kept. Try again.");
    },
  });
}
