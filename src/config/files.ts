import { z } from "zod";
import { Secret } from "../secret.ts";
import { ConfigError } from "./config-error.ts";
import { httpUrl, key, whole } from "./kinds.ts";

/** Where the bytes of visitors' files are, and how many one may have. */
export interface FilesSettings {
  /** Null: in the store. */
  place: FilesPlace | null;
  maxBytes: number;
}

export type FilesPlace =
  | { folder: string }
  | { bucket: string; accessKeyId: Secret; secretAccessKey: Secret; region: string };

const IN_STORE_BYTES = 4_194_304;
const OUTSIDE_BYTES = 20_971_520;

export const filesVariables = {
  FILES_DIR: z.string().nullable().default(null),
  FILES_URL: httpUrl().nullable().default(null),
  FILES_ACCESS_KEY_ID: key().nullable().default(null),
  FILES_SECRET_ACCESS_KEY: key().nullable().default(null),
  FILES_REGION: z.string().default("us-east-1"),
  FILES_MAX_BYTES: whole(1, 104_857_600).nullable().default(null),
};

/** Throws ConfigError for two places, and for a bucket without its keys. */
export function filesOf(value: z.infer<z.ZodObject<typeof filesVariables>>): FilesSettings {
  const place = placeOf(value);
  const maxBytes = value.FILES_MAX_BYTES ?? (place === null ? IN_STORE_BYTES : OUTSIDE_BYTES);
  return { place, maxBytes };
}

function placeOf(value: z.infer<z.ZodObject<typeof filesVariables>>): FilesPlace | null {
  const { FILES_DIR: folder, FILES_URL: bucket } = value;
  if (folder !== null && bucket !== null) {
    throw new ConfigError(
      "Cannot read the configuration: FILES_DIR and FILES_URL are both set, it takes one of them",
    );
  }
  if (bucket === null) return folder === null ? null : { folder };
  const { FILES_ACCESS_KEY_ID: accessKeyId, FILES_SECRET_ACCESS_KEY: secretAccessKey } = value;
  if (accessKeyId === null || secretAccessKey === null || !/^\/[^/]/.test(new URL(bucket).pathname)) {
    throw new ConfigError(
      "Cannot read the configuration: FILES_URL is set, it takes https://HOST/BUCKET, FILES_ACCESS_KEY_ID and FILES_SECRET_ACCESS_KEY",
    );
  }
  return { bucket, accessKeyId, secretAccessKey, region: value.FILES_REGION };
}
