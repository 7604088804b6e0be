// For src/version.ts, src/stores/format.ts
import { expect, test } from "vitest";
import { VERSION } from "../../src/version.ts";
import { readGoldens } from "./golden/golden.ts";

test("the version is later than every released one: what stores something else must not call itself that", () => {
  const [present = ""] = VERSION.split("-");
  const released = readGoldens().map(({ version }) => version);
  expect(released.filter((version) => present.localeCompare(version, "en", { numeric: true }) <= 0)).toEqual(
    [],
  );
});
