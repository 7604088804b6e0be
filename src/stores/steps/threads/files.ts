import { hash } from "node:crypto";
import { ABOUT_FILE, BYTES_OF_FILE, fileName, UPLOAD_MS } from "../../../domain/threads/files.ts";
import type { KeptFile } from "../../../domain/threads/files.ts";
import { StoreUnavailable } from "../../../store.ts";
import type { ThreadStore } from "../../../store/threads.ts";
import { openedPart, sealedPart } from "../../content-keys/sealed-records.ts";
import type { Seal } from "../../content-keys/sealed-records.ts";
import { slotOf } from "../../engine.ts";
import type { Pair } from "../../engine.ts";
import { FilesUnavailable } from "../../files/outside-files.ts";
import type { OutsideFiles } from "../../files/outside-files.ts";
import { fileKind, readFile } from "../../records/records.ts";
import { HEADER, tables } from "../../tables.ts";
import { nowMs } from "../context.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import { partId, partName, recordOfPart, recordPart } from "./texts.ts";

type FileSteps = Pick<
  ThreadStore,
  "keepUpload" | "takeUploads" | "dropOldUploads" | "keptFile" | "keptFileBytes"
>;

const aboutField = (id: string) => partName(fileName(id), ABOUT_FILE);
const bytesField = (id: string) => partName(fileName(id), BYTES_OF_FILE);

/**
 * Files of messages. One that no message names yet waits in a key of its own, which expires; a message's are among its
 * thread's parts, and move and go with these. Both have the same texts, so a file is sealed once.
 */
export function fileSteps(context: StepsContext): FileSteps {
  const { engine, codec, outside } = context;

  return {
    async keepUpload({ uid, slug, file, bytes }) {
      const header = tables.header.key(uid);
      const key = tables.uploads.key(uid);
      const seal = await codec.sealOf({ uid, slug, userId: null });
      const stored = outside ? { ...file, isOutside: true as const } : file;
      const text = sealedBytes(bytes, file.id, seal);
      const fields: Pair[] = [
        recordPart(fileKind.stored(stored), fileName(file.id), ABOUT_FILE, seal),
        [bytesField(file.id), outside ? "" : text],
      ];
      const applied = await engine.apply({
        name: "keepUpload",
        slot: slotOf(key),
        checks: [fieldIs(header, HEADER.deletedAtMs, null)],
        writes: [
          { write: "set", key, fields },
          { write: "expire", key, inMs: UPLOAD_MS },
        ],
      });
      if (applied.type === "failed") return false;
      if (outside) await onOutside(() => outside.put(waitingName(uid, file.id), Buffer.from(text)));
      return true;
    },

    async takeUploads(uid, ids) {
      const uploads = tables.uploads.key(uid);
      const parts = tables.parts.key(uid);
      const fields = ids.flatMap((id) => [aboutField(id), bytesField(id)]);
      const [waiting, kept] = await engine.read(
        [
          { read: "fields", key: uploads, fields },
          { read: "fields", key: parts, fields: ids.map(aboutField) },
        ],
        { name: "takeUploads" },
      );
      const moved: Pair[] = [];
      const left: string[] = [];
      const abouts: string[] = [];
      for (const [nth, id] of ids.entries()) {
        const [fresh = null, bytes = null] = waiting.slice(2 * nth);
        const about = kept[nth] ?? fresh;
        if (about === null) return { type: "missing", id };
        abouts.push(about);
        if (kept[nth] === null && bytes !== null)
          moved.push([aboutField(id), about], [bytesField(id), bytes]);
        if (fresh !== null) left.push(aboutField(id), bytesField(id));
      }
      const files = await opened(uid, ids, abouts);
      if (outside) {
        for (const { id, isOutside } of files) {
          if (isOutside && left.includes(aboutField(id)))
            await onOutside(() => outside.move(waitingName(uid, id), keptName(uid, id)));
        }
      }
      if (left.length === 0) return { type: "taken", files };
      const applied = await engine.apply({
        name: "takeUploads",
        slot: slotOf(parts),
        checks: [fieldIs(tables.header.key(uid), HEADER.deletedAtMs, null)],
        writes: [
          ...(moved.length > 0 ? [{ write: "set" as const, key: parts, fields: moved }] : []),
          { write: "remove", key: uploads, fields: left },
        ],
      });
      return applied.type === "failed" ? { type: "deleted" } : { type: "taken", files };
    },

    async dropOldUploads() {
      if (outside) await onOutside(() => outside.removeBelow(WAITING, nowMs(context) - UPLOAD_MS));
    },

    async keptFile(uid, id) {
      const [[about = null]] = await engine.read(
        [{ read: "fields", key: tables.parts.key(uid), fields: [aboutField(id)] }],
        { name: "keptFile" },
      );
      if (about === null) return null;
      const [file = null] = await opened(uid, [id], [about]);
      return file;
    },

    async keptFileBytes(uid, id) {
      const [[stored = null]] = await engine.read(
        [{ read: "fields", key: tables.parts.key(uid), fields: [bytesField(id)] }],
        { name: "keptFileBytes" },
      );
      if (stored === null) return null;
      const text = stored === "" && outside ? await readOutside(outside, uid, id) : stored;
      if (text === null || text === "") return null;
      return codec.read(uid, (open) =>
        Buffer.from(openedPart(text, partId(fileName(id), BYTES_OF_FILE), open), "base64"),
      );
    },
  };

  function opened(
    uid: string,
    ids: readonly string[],
    abouts: readonly string[],
  ): KeptFile[] | Promise<KeptFile[]> {
    return codec.read(uid, (open) =>
      abouts.map((about, nth) =>
        readFile(recordOfPart(about, fileName(ids[nth] ?? ""), ABOUT_FILE, open), uid),
      ),
    );
  }
}

function sealedBytes(bytes: Uint8Array, id: string, seal: Seal | null): string {
  const text = Buffer.from(bytes).toString("base64");
  return seal ? sealedPart(text, partId(fileName(id), BYTES_OF_FILE), seal) : text;
}

async function readOutside(outside: OutsideFiles, uid: string, id: string): Promise<string | null> {
  const bytes = await onOutside(() => outside.get(keptName(uid, id)));
  return bytes && bytes.toString();
}

/** Whoever waits for it is told what is told of a store that is away. */
async function onOutside<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FilesUnavailable) && !(error instanceof Error && "code" in error)) throw error;
    throw new StoreUnavailable("keep or read a file", { cause: error, fact: "their place does not answer" });
  }
}

/** What waits is below `waiting/`: what is old there is dropped, whatever thread it is of. */
const WAITING = "waiting/";

const folderOf = (uid: string) => hash("sha256", uid).slice(0, 32);
const waitingName = (uid: string, id: string) => `${WAITING}${folderOf(uid)}/${id}`;
const keptName = (uid: string, id: string) => `kept/${folderOf(uid)}/${id}`;

/** Everything of a thread; for its deletion. */
export async function removeOutside(outside: OutsideFiles | null | undefined, uid: string): Promise<void> {
  if (!outside) return;
  await onOutside(async () => {
    await outside.removeBelow(`${WAITING}${folderOf(uid)}/`);
    await outside.removeBelow(`kept/${folderOf(uid)}/`);
  });
}
