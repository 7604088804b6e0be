import type { Engine, How } from "../../engine.ts";

/** One field of a hash; null: absent. */
export async function readField(
  engine: Engine,
  key: string,
  field: string,
  how: How,
): Promise<string | null> {
  const [[value = null]] = await engine.read([{ read: "fields", key, fields: [field] }], how);
  return value;
}
