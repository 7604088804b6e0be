import type { Store } from "../../store.ts";
import type { Wrapping } from "./wrapping.ts";

/**
 * Throws if users' keys in the store were wrapped by a key that is not given, or that differs from the one with its
 * id.
 */
export async function refuseLockedStore(
  store: Pick<Store, "contentKeys">,
  wrapping: Wrapping,
): Promise<void> {
  const wrappers = (await store.contentKeys?.wrappers()) ?? {};
  const missing = Object.keys(wrappers).filter((id) => !wrapping.has(id));
  if (missing.length > 0) {
    throw new Error(
      `Cannot open the store: conversations in it are encrypted by ${missing.join(" and ")}, which CONTENT_KEYS does not have; add it behind the first one, or give them up for good with \`store rekey --forget ${missing[0]}\``,
    );
  }
  const other = Object.entries(wrappers).find(
    ([id, check]) => check !== "" && !wrapping.isChecked(id, check),
  );
  if (other) {
    throw new Error(
      `Cannot open the store: the ${other[0]} of CONTENT_KEYS is not the key by which conversations in it are encrypted`,
    );
  }
}
