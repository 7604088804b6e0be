// For src/version.ts, src/stores/format.ts
import { expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { readGoldens } from "./golden/golden.ts";

test("the version is later than every released one, or is the last one, whole: what stores something else must not call itself that", () => {
  const [present = "", ...before] = VERSION.split("-");
  const isReleased = before.length === 0;
  const versions = readGoldens().map(({ version }) => version);
  const tooLate = (order: number) => (isReleased ? order < 0 : order <= 0);
  const compared = (version: string) => present.localeCompare(version, "en", { numeric: true });
  expect(versions.filter((version) => tooLate(compared(version)))).toEqual([]);
  if (isReleased) expect(versions).toContain(present);
});
